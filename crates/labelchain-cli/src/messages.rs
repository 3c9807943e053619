//! What a person sees: results on standard output, what went wrong on standard error.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use labelchain::error::{Error, ErrorKind, Part, Remedy, Task};
use labelchain::method::setting;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(Error),
    /// None of the methods asked for uses an option.
    Unused { option: String, methods: String },
    /// Standard output could not be written.
    Output(io::Error),
    /// A study is finished, but for cells that failed.
    Cells(usize),
    /// The user has seen enough.
    Interrupted,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl Failure {
    /// Says what is wrong, where and what to do, and chooses the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (text, status) = match &self {
            // Whoever reads our output has seen enough: `labelchain describe x | head -1`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Output(error) => (format!("error: standard output: {error}\n"), 3),
            Failure::Library(error) => (message_of(error), status_of(error.kind())),
            Failure::Unused { option, methods } => {
                let text = format!(
                    "error: {option} makes no difference to {methods}\n  help: leave it out; --help says which methods it is for\n"
                );
                (text, 2)
            }
            Failure::Cells(n) => {
                let cells = if *n == 1 { "cell" } else { "cells" };
                let text = format!("error: {n} {cells} failed\n  help: study status says why\n");
                (text, 1)
            }
            Failure::Interrupted => {
                let text = "interrupted\n  help: the same command goes on where it stopped\n";
                (text.into(), 130)
            }
        };
        complain(&text);
        ExitCode::from(status)
    }
}

/// 3 where the same command may succeed later or elsewhere, 2 where it has to change.
fn status_of(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::System | ErrorKind::Busy => 3,
        ErrorKind::Cancelled => 130,
        _ => 2,
    }
}

/// Says that the program is wrong, not the user.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> ExitCode {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    remark(&format!(
        "error: a bug in labelchain {}: {}\n  help: please report it, with the command and the file",
        env!("CARGO_PKG_VERSION"),
        text.unwrap_or("no message")
    ));
    ExitCode::from(101)
}

/// The message of an error, with settings as they are typed.
fn worded(error: &Error) -> String {
    match error {
        Error::Value { name, .. } if setting(name).is_ok() => format!("--{error}"),
        _ => error.to_string(),
    }
}

fn message_of(error: &Error) -> String {
    let mut text = format!("error: {}\n", worded(error));
    if let Error::Content(content) = error
        && let Some((excerpt, at)) = &content.excerpt
    {
        let margin = content.line.to_string();
        let gap = " ".repeat(margin.len());
        let _ = writeln!(text, "  {margin} | {excerpt}");
        let _ = writeln!(text, "  {gap} | {}^", " ".repeat(*at));
    }
    if let Some(remedy) = error.remedy() {
        let _ = writeln!(text, "  help: {}", in_shell_words(&remedy));
    }
    text
}

/// A remedy as it is typed in a shell: settings are options, tasks are commands.
fn in_shell_words(remedy: &Remedy) -> String {
    let word = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Setting { name, value: None } => format!("--{name}"),
        Part::Setting { name, value: Some(value) } => format!("--{name} {}", quoted(value)),
        Part::Task(task) => command_of(*task).into(),
    };
    remedy.parts().iter().map(word).collect()
}

fn command_of(task: Task) -> &'static str {
    match task {
        Task::ListDatasets => "labelchain datasets",
        Task::ReduceBags => "convert, train and evaluate",
        Task::RunStudy => "study run",
        Task::MergeResults => "study merge",
        Task::SaveModel => "labelchain train",
    }
}

/// A value in quotes where a shell would take it apart or read something else into it.
fn quoted(value: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.,/:=+%@".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!("'{}'", value.replace('\'', "'\\''")))
    }
}

/// Text that is safe to show: what a terminal would obey instead of showing it is replaced by U+FFFD,
/// one for one, so that columns stay aligned. Lines and tabs stay.
///
/// Names come from files and servers. An escape sequence in one could repaint the screen, and
/// characters that are invisible or reverse the text could make one name look like another.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    let is_hostile = |c: char| match c {
        '\n' | '\t' => false,
        // Zero-width characters and marks of direction; separators of lines and paragraphs,
        // embeddings and overrides; joiners and isolates; fillers; the byte order mark; invisible
        // tags. Variation selectors stay: they belong to ordinary emoji.
        '\u{00ad}'
        | '\u{034f}'
        | '\u{061c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        // C0 with the escape character, DEL, and C1, in which U+009B begins a sequence by itself.
        _ => c.is_control(),
    };
    if text.contains(is_hostile) {
        Cow::Owned(text.replace(is_hostile, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes a page for people to standard output, cleaned also where it goes into a pipe.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_data(&cleaned(text))
}

/// Writes text for programs (JSON, CSV, shell scripts) to standard output.
pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    let mut out = data_output();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}

/// Standard output for text that programs read: as it is, but cleaned where a terminal shows it.
pub(crate) fn data_output() -> Box<dyn Write> {
    let out = io::stdout().lock();
    if out.is_terminal() {
        Box::new(Screen { out, line: Vec::new() })
    } else {
        Box::new(io::BufWriter::new(out))
    }
}

/// Cleans line by line, since a character may be cut in two by the end of a buffer.
struct Screen<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.show()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show()?;
        self.out.flush()
    }
}

impl<W: Write> Screen<W> {
    fn show(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.out.write_all(cleaned(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

/// Writes a remark to standard error, so that standard output stays what was asked for.
pub(crate) fn remark(text: &str) {
    complain(&format!("{text}\n"));
}

/// Writes to standard error. If that fails, too, there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(cleaned(text).as_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::CommandFactory as _;
    use labelchain::catalog::PaperSet;
    use labelchain::data::{LabelChoice, ReadOptions, Table, parse, write};
    use labelchain::prepare::{BagReduction, MedoidStart};
    use labelchain::seed::Seed;
    use labelchain::stats::{Comparison, TestPlan};

    use super::*;
    use crate::args::Arguments;

    fn help(error: &Error) -> String {
        in_shell_words(&error.remedy().unwrap())
    }

    fn named(names: &str) -> ReadOptions {
        let names = names.split(',').map(String::from).collect();
        ReadOptions { labels: LabelChoice::Named(names), ..ReadOptions::default() }
    }

    fn tags(column: &str) -> ReadOptions {
        let labels = LabelChoice::Tags { column: column.into(), separator: ";".into() };
        ReadOptions { labels, ..ReadOptions::default() }
    }

    #[test]
    fn what_a_reader_advises_can_be_typed() {
        let detect = ReadOptions::default;
        for (file, text, options, expected) in [
            (
                "t.csv",
                &b"x,a\n1,0\n"[..],
                detect(),
                "say which columns are labels: --labels a,b,c · --labels-first N · --labels-last N · \
                 --labels-xml FILE · an XML file beside the data with the same stem · \
                 \"-C n\" in an ARFF relation name · --tags COLUMN for one column of delimited tags",
            ),
            ("t.csv", b"x,x\n1,0\n", named("x"), "--dedupe reads them as x, x.2, x.3, …"),
            (
                "t.csv",
                b"x,a\n1,0\n",
                ReadOptions { max_memory: 100, ..named("a") },
                "--max-memory raises the limit: twice as much is 200",
            ),
            (
                "t.csv",
                b",a\n1,0\n",
                named("a"),
                "give it a name, or leave it out if it only numbers the rows; \
                 --dedupe reads it as column1",
            ),
            (
                "t.csv",
                b"x,t\n1,x\n",
                tags("t"),
                "rename the column, or --dedupe reads the tag as x.2",
            ),
            (
                "t.csv",
                b"x,a\n1,\n",
                named("a"),
                "--missing-labels drop leaves such rows out, irrelevant reads them as 0, learn keeps what is there",
            ),
            (
                "t.csv",
                b"x,a\n1,2\n",
                named("a"),
                "--binarize '>0', or another comparison, makes numbers relevant or irrelevant",
            ),
            (
                "t.csv",
                b"x,a\n1,p|q\n",
                named("a"),
                "a column of tags? --tags COLUMN makes a label of each",
            ),
            (
                "t.csv",
                b"caf\xE9,a\n1,0\n",
                named("a"),
                "it reads as 'é' in Latin-1: retry with --encoding latin1",
            ),
            (
                "t.arff",
                b"@relation 't: -C 1'\n@attribute x numeric\n@attribute a {0,1}\n@data\n2.5,1\n",
                detect(),
                "the relation name says -C 1; perhaps the labels stand last: --labels-last 1. \
                 Otherwise: --binarize '>0', or another comparison, makes numbers relevant or \
                 irrelevant",
            ),
            (
                "t.svm",
                b"0 7:1\n",
                ReadOptions { n_features: Some(5), ..detect() },
                "if there are so many features, say so: --features 7",
            ),
            (
                "t.svm",
                b"0 2000000:1\n",
                detect(),
                "if there are so many features, say so: --features 2000000",
            ),
        ] {
            let error = parse(Path::new(file), text, &options).unwrap_err();
            assert_eq!(help(&error), expected, "{error}");
        }
    }

    #[test]
    fn what_is_advised_about_bags_can_be_typed() {
        let bags = |instances: &str| {
            let text = format!(
                "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x {{u,v}}\n@end bag\n\
                 @attribute a {{0,1}}\n@data\n{instances}"
            );
            parse("b.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap().table
        };
        let table = bags("'u',1\n'u\\nv',0\n");
        let error = write(&table, "b.csv".as_ref()).unwrap_err();
        assert_eq!(
            help(&error),
            "write to a file that ends in .arff, or make single rows of the bags with --bags"
        );
        let Table::Bags(two) = &table else { panic!("bags") };
        let concat = BagReduction::Concat.fit(two, Seed::new(1)).unwrap();
        let error = concat.apply(two).unwrap_err();
        assert_eq!(help(&error), "--bags medoids takes bags of any size");
        let medoids = BagReduction::Medoids { n: 1, start: MedoidStart::Build, swap: false };
        let error = medoids.fit(two, Seed::new(1)).unwrap_err();
        assert_eq!(help(&error), "make the column numeric, or use --bags concat");
        assert_eq!(
            help(&table.into_rows().unwrap_err()),
            "convert, train and evaluate make single rows of bags: --bags medoids or --bags concat"
        );
    }

    #[test]
    fn what_is_advised_about_studies_can_be_typed() {
        assert_eq!(help(&PaperSet::find("x").unwrap_err()), "labelchain datasets lists all thirty");
        assert_eq!(
            help(&Error::Locked { path: "p.db".into() }),
            "wait for it to end, or share the work: --shard 1/2 and 2/2, each with --results \
             of its own, then study merge"
        );
        let place = tempfile::tempdir().unwrap();
        let part = place.path().join("nothing.db");
        let error = labelchain::study::merge(&place.path().join("p.db"), &[part]).unwrap_err();
        assert_eq!(help(&error), "name the files that study run wrote with --shard");
        let names = |names: [&str; 2]| names.map(String::from);
        let table = labelchain::stats::LossTable {
            criterion: "loss".into(),
            losses: vec![vec![Some(0.5), None], vec![Some(0.5), Some(0.25)]],
            higher_is_better: false,
        };
        let error = Comparison::of(
            &names(["one", "other"]),
            &names(["ecc", "br"]),
            vec![table],
            TestPlan::default(),
        );
        assert_eq!(
            help(&error.unwrap_err()),
            "--gaps drop-sets leaves such data sets out; \
             --gaps worst-rank lets the method come last there"
        );
    }

    #[test]
    fn a_screen_shows_text_and_obeys_none_of_it() {
        let hostile = "a\u{1b}[2Jb\u{9b}c\u{202e}d\u{200b}e\u{2028}f\u{2066}g\r\u{7f}\u{feff}h";
        let shown =
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}g\u{fffd}\u{fffd}\u{fffd}h";
        assert_eq!(cleaned(hostile), shown);
        assert!(matches!(cleaned("naïve\tBayes\nλ 日本 😀"), Cow::Borrowed(_)));
        let mut screen = Screen { out: Vec::new(), line: Vec::new() };
        // One byte at a time, so that characters are cut in two.
        hostile.as_bytes().iter().for_each(|byte| screen.write_all(&[*byte]).unwrap());
        screen.flush().unwrap();
        assert_eq!(String::from_utf8(screen.out).unwrap(), shown);
    }

    #[test]
    fn values_are_quoted_where_a_shell_would_read_something_else() {
        for (value, expected) in
            [("a,b", "a,b"), (">0", "'>0'"), ("my tags", "'my tags'"), ("it's", r"'it'\''s'")]
        {
            assert_eq!(quoted(value), expected);
        }
        assert_eq!(quoted(""), "''");
    }

    fn options(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|option| option.get_long().map(String::from));
        own.chain(command.get_subcommands().flat_map(options)).collect()
    }

    fn sources(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        entries
            .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![read(&path)] })
            .collect()
    }

    #[test]
    fn every_setting_that_the_library_advises_is_an_option_of_a_command() {
        let known = options(&Arguments::command());
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../labelchain/src");
        let mut n_found = 0;
        for text in sources(&library) {
            for call in [".setting(", ".set("] {
                for (at, _) in text.match_indices(call) {
                    let argument = text[at + call.len()..].trim_start();
                    let Some(name) = argument.strip_prefix('"') else { continue };
                    let name = name.split('"').next().unwrap();
                    assert!(known.iter().any(|option| option == name), "--{name} is no option");
                    n_found += 1;
                }
            }
        }
        assert!(n_found > 20, "{n_found}");
    }

    #[test]
    fn every_task_that_the_library_advises_is_a_command() {
        for task in [
            Task::ListDatasets,
            Task::ReduceBags,
            Task::RunStudy,
            Task::MergeResults,
            Task::SaveModel,
        ] {
            let words = command_of(task).replace(" and ", ", ");
            for path in words.split(", ") {
                let mut command = &Arguments::command();
                for word in path.trim_start_matches("labelchain ").split(' ') {
                    command = command.find_subcommand(word).unwrap();
                }
            }
        }
    }

    #[test]
    fn statuses_go_by_the_kind_of_the_error() {
        let path = || "x".into();
        let source = io::ErrorKind::PermissionDenied.into();
        for (error, status) in [
            (Error::Io { path: path(), source }, 3),
            (Error::Locked { path: path() }, 3),
            (Error::Cancelled, 130),
            (Error::TooLarge { path: path(), what: "it".into(), needed: None, limit: 1 }, 2),
            (Error::UnknownFormat { path: path() }, 2),
            (Error::NotRows { name: "x".into() }, 2),
            (Error::RepeatedColumn { path: path(), name: "x".into(), positions: vec![1, 2] }, 2),
        ] {
            assert_eq!(status_of(error.kind()), status, "{error}");
        }
    }
}
