//! Writing files whole or not at all.
//!
//! An [`Output`] is written under no name (Linux), or under a temporary one where the file system
//! cannot do that, and takes its own name when all of it is on disk. Several of them take their names
//! together: [`publish`]. So a reader, a crash or a full disk never meets half a file.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::file::{Compression, compression};
use crate::error::{Error, Result, directory_of, unpoisoned};

/// A file in the making; [`publish`] gives it its name. Dropped before that, it leaves nothing behind.
///
/// What is written is compressed as the name says. A symbolic link is followed, and stays a link. A
/// file that is replaced keeps its permissions and, as far as the system allows, its owner. Devices
/// and pipes are written to directly, for they cannot be replaced.
pub struct Output {
    path: PathBuf,
    place: Place,
    out: Encoder,
}

/// Where an output will stand.
enum Place {
    /// In a device or pipe, where it stands already.
    Stream,
    /// At the end of the links that `path` is, in place of a file or of none.
    File { target: PathBuf, replaced: Option<Box<Metadata>>, part: Option<PartName> },
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Bzip2(bzip2::write::BzEncoder<BufWriter<File>>),
}

impl Output {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Output> {
        let (place, file) = place(path).map_err(|error| refused(path, error))?;
        let out = BufWriter::with_capacity(128 << 10, file);
        let out = match compression(path) {
            Compression::None => Encoder::Plain(out),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(out, Default::default()))
            }
            Compression::Bzip2 => {
                Encoder::Bzip2(bzip2::write::BzEncoder::new(out, Default::default()))
            }
        };
        Ok(Output { path: path.into(), place, out })
    }

    /// A file with this content. An error of ours that `content` wraps in one of the system's comes back
    /// as itself.
    pub fn with(
        path: &Path,
        content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<Output> {
        let mut output = Output::create(path)?;
        content(&mut output).map_err(|error| refused(path, error))?;
        Ok(output)
    }

    /// The name it will have, as it was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of it to the disk, so that only the name is missing.
    fn finish(self) -> Result<Finished> {
        let Output { path, place, out } = self;
        let finish = || -> io::Result<File> {
            let mut out = match out {
                Encoder::Plain(out) => out,
                Encoder::Gzip(out) => out.finish()?,
                Encoder::Bzip2(out) => out.finish()?,
            };
            out.flush()?;
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            if let Place::File { replaced, .. } = &place {
                if let Some(replaced) = replaced {
                    keep_access(&file, replaced)?;
                }
                file.sync_all()?;
            }
            Ok(file)
        };
        match finish() {
            Ok(file) => Ok(Finished { path, place, file }),
            Err(error) => Err(refused(&path, error)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(out) => out.write(bytes),
            Encoder::Bzip2(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(out) => out.flush(),
            Encoder::Bzip2(out) => out.flush(),
        }
    }
}

/// Writes one file, whole or not at all, as [`Output::with`] and [`publish`] do.
pub fn save(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    publish(vec![Output::with(path, content)?])
}

/// Gives files their names when all of them are on disk: all of them or none. If one name is refused,
/// those given before are taken back. (A process that is killed between two names leaves the first
/// file new and the second old, each of them whole: file systems cannot rename two files at once.)
pub fn publish(outputs: Vec<Output>) -> Result<()> {
    let targets = outputs.iter().filter_map(|output| match &output.place {
        Place::Stream => None,
        Place::File { target, .. } => Some((target, &output.path)),
    });
    let mut seen = BTreeSet::new();
    for (target, path) in targets {
        if !seen.insert(target) {
            return Err(Error::CannotWrite {
                path: path.clone(),
                what: "would hold two outputs".into(),
                remedy: "write one of them under another name".into(),
            });
        }
    }
    let finished: Vec<Finished> = outputs.into_iter().map(Output::finish).collect::<Result<_>>()?;
    let n = finished.len();
    let _publishing = unpoisoned(&PUBLISHING);
    let mut placed: Vec<Placed> = Vec::new();
    for (at, output) in finished.into_iter().enumerate() {
        let path = output.path.clone();
        match output.take_name(at + 1 < n) {
            Ok(one) => placed.extend(one),
            Err(error) => {
                placed.into_iter().rev().for_each(Placed::undo);
                return Err(refused(&path, error));
            }
        }
    }
    placed.iter().try_for_each(|one| {
        sync_directory(&one.target).map_err(|error| refused(&one.target, error))
    })
}

/// Writes a directory of files, all or none; the name of a file may include a subdirectory. A directory that is
/// there already, with all that is in it, is replaced: older files would mix with these.
pub fn save_directory(path: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let write = || -> io::Result<()> {
        sweep(path)?;
        let part = PartName::new(path)?;
        fs::create_dir(&part.0)?;
        for (name, content) in files {
            let file = part.0.join(name);
            fs::create_dir_all(directory_of(&file))?;
            save(&file, |out| out.write_all(content)).map_err(io::Error::other)?;
        }
        let _publishing = unpoisoned(&PUBLISHING);
        // The older directory is removed at the end, under a name that tells what it is.
        let older = if path.is_dir() {
            let older = PartName::new(path)?;
            fs::rename(path, &older.0)?;
            Some(older)
        } else {
            None
        };
        if let Err(error) = fs::rename(&part.0, path) {
            if let Some(older) = older {
                fs::rename(&older.0, path)?;
                older.renamed();
            }
            return Err(error);
        }
        part.renamed();
        sync_directory(path)
    };
    write().map_err(|error| refused(path, error))
}

/// Removes what is being written, for a process that a signal is about to end. Afterwards nothing can
/// be written any more: threads that try wait for the end of the process. Names that are being
/// given at this moment are given first.
pub fn remove_part_files() {
    std::mem::forget(unpoisoned(&PUBLISHING));
    let parts = unpoisoned(&PART_NAMES);
    parts.iter().for_each(|part| remove(part));
    std::mem::forget(parts);
}

/// The temporary names that exist at this moment.
static PART_NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Held while outputs take their names.
static PUBLISHING: Mutex<()> = Mutex::new(());

/// What the temporary names of a target begin with; the process and a number of its own follow.
fn prefix(target: &Path) -> io::Result<String> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let machine = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let [target, machine] =
        [name.as_encoded_bytes(), &machine[..]].map(|of| blake3::hash(of).to_hex());
    Ok(format!(".labelchain-{}-{}-", &target[..16], &machine[..8]))
}

/// Removes what killed processes left that were about to write `target`. Processes are known by their
/// number on this machine since it was started, where the system has a list of them.
fn sweep(target: &Path) -> io::Result<()> {
    let prefix = prefix(target)?;
    let Ok(entries) = fs::read_dir(directory_of(target)) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(&prefix)) else {
            continue;
        };
        let is_alive = |process: &str| Path::new("/proc").join(process).exists();
        if Path::new("/proc/self").exists()
            && rest.split('-').next().is_some_and(|of| !is_alive(of))
        {
            remove(&entry.path());
        }
    }
    Ok(())
}

/// The temporary name of something unfinished; it is removed when this is dropped.
struct PartName(PathBuf);

impl PartName {
    /// A name beside `target` that nothing else has.
    fn new(target: &Path) -> io::Result<PartName> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{}-{number}", prefix(target)?, std::process::id());
        let path = directory_of(target).join(name);
        unpoisoned(&PART_NAMES).insert(path.clone());
        Ok(PartName(path))
    }

    /// What stood under the name has another one now.
    fn renamed(self) {
        unpoisoned(&PART_NAMES).remove(&self.0);
        std::mem::forget(self);
    }
}

impl Drop for PartName {
    fn drop(&mut self) {
        let mut parts = unpoisoned(&PART_NAMES);
        remove(&self.0);
        parts.remove(&self.0);
    }
}

/// What cannot be removed now is removed by the next that writes there.
fn remove(part: &Path) {
    let is_directory = fs::symlink_metadata(part).is_ok_and(|about| about.is_dir());
    let _ = if is_directory { fs::remove_dir_all(part) } else { fs::remove_file(part) };
}

/// Whether what is written goes to a device, to a pipe, or to what a shell opened before us, perhaps to
/// append to a file: none of them is replaced.
pub fn is_stream(path: &Path) -> bool {
    let opened = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    opened.iter().any(|opened| path.starts_with(opened))
        || fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// Where the bytes of an output go, and where they will stand.
fn place(path: &Path) -> io::Result<(Place, File)> {
    if is_stream(path) {
        return Ok((Place::Stream, OpenOptions::new().append(true).open(path)?));
    }
    let found = match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(about) => Some(about),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut target = path.to_path_buf();
    // Links that lead in a circle were an error above.
    while let Ok(next) = fs::read_link(&target) {
        target = directory_of(&target).join(next);
    }
    // So that two names of one file are seen to be the same.
    let directory = directory_of(&target).canonicalize()?;
    target = directory.join(target.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    sweep(&target)?;
    let (file, part) = match unnamed(directory_of(&target)) {
        Ok(file) => (file, None),
        Err(_) => {
            let part = PartName::new(&target)?;
            (private_until_finished(&part.0, found.is_some())?, Some(part))
        }
    };
    Ok((Place::File { target, replaced: found.map(Box::new), part }, file))
}

/// A file without a name, which the system removes with the process, however that ends.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(directory, flags, Mode::from_raw_mode(0o666))?);
    // Without /proc it could not be named in the end.
    fs::metadata(link_to(&file)).map(|_| file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How a file without a name is called.
#[cfg(target_os = "linux")]
fn link_to(file: &File) -> String {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a file without a name one that nothing else has.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, link_to(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A new file. Where it replaces one, others may read it only when it has that one's permissions.
fn private_until_finished(path: &Path, replaces: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if replaces { 0o600 } else { 0o666 });
    }
    options.open(path)
}

/// Owner and permissions of the file that is replaced. Only an administrator may give a file away, so
/// that a refusal is none of ours; without the owner's bits for running as another user.
#[cfg(unix)]
fn keep_access(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let has_group = fchown(file, None, Some(replaced.gid())).is_ok();
    let _ = fchown(file, Some(replaced.uid()), None);
    // What its group might do is not for another group.
    let kept = if has_group { 0o777 } else { 0o707 };
    file.set_permissions(fs::Permissions::from_mode(replaced.mode() & kept))
}

#[cfg(not(unix))]
fn keep_access(file: &File, replaced: &Metadata) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

/// An output that only lacks its name.
struct Finished {
    path: PathBuf,
    place: Place,
    file: File,
}

impl Finished {
    /// Gives it its name; none is needed in a stream. `may_be_undone` keeps the file it replaces.
    fn take_name(self, may_be_undone: bool) -> io::Result<Option<Placed>> {
        let Place::File { target, replaced, part } = self.place else { return Ok(None) };
        if replaced.is_none() && part.is_none() && link(&self.file, &target).is_ok() {
            return Ok(Some(Placed { target, old: None, is_new: true }));
        }
        let part = match part {
            Some(part) => part,
            None => {
                let part = PartName::new(&target)?;
                link(&self.file, &part.0)?;
                part
            }
        };
        let is_new = fs::symlink_metadata(&target).is_err();
        let old = (may_be_undone && !is_new).then(|| {
            let old = PartName::new(&target)?;
            // Some file systems have no second names.
            fs::hard_link(&target, &old.0)
                .or_else(|_| fs::copy(&target, &old.0).map(|_| ()))
                .map(|()| old)
        });
        let old = old.transpose()?;
        fs::rename(&part.0, &target)?;
        part.renamed();
        Ok(Some(Placed { target, old, is_new }))
    }
}

/// An output with its name, and what it replaced while that can still come back.
struct Placed {
    target: PathBuf,
    old: Option<PartName>,
    is_new: bool,
}

impl Placed {
    fn undo(self) {
        if let Some(old) = self.old {
            if fs::rename(&old.0, &self.target).is_ok() {
                old.renamed();
            }
        } else if self.is_new {
            let _ = fs::remove_file(&self.target);
        }
    }
}

/// A new name is on disk only when its directory is.
#[cfg(unix)]
fn sync_directory(file: &Path) -> io::Result<()> {
    File::open(directory_of(file))?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Ours as itself, the system's with the name that was asked for.
fn refused(path: &Path, error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::io(path, error))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::file::open;
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn two_files_take_their_names_together_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let output =
            |name: &str| Output::with(&path(name), |out| out.write_all(name.as_bytes())).unwrap();
        fs::write(path("old"), "as before").unwrap();
        let outputs = vec![output("old"), output("new"), output("refused")];
        // The third name is taken by something that cannot be replaced.
        fs::create_dir(path("refused")).unwrap();
        fs::write(path("refused/x"), "").unwrap();
        publish(outputs).unwrap_err();
        assert_eq!(names(place.path()), ["old", "refused"]);
        assert_eq!(fs::read_to_string(path("old")).unwrap(), "as before");

        publish(vec![output("old"), output("new")]).unwrap();
        assert_eq!(names(place.path()), ["new", "old", "refused"]);
        assert_eq!(fs::read_to_string(path("old")).unwrap(), "old");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("m");
        let living = PartName::new(&path).unwrap();
        // No process has such a number.
        let killed = format!("{}{}-0", prefix(&path).unwrap(), u32::MAX);
        let other = format!("{}{}-0", prefix(&place.path().join("n")).unwrap(), u32::MAX);
        for name in [&killed, &other] {
            fs::write(place.path().join(name), "half").unwrap();
        }
        fs::write(&living.0, "half").unwrap();
        save(&path, |out| out.write_all(b"whole")).unwrap();
        assert!(!place.path().join(killed).exists());
        assert!(place.path().join(other).exists() && living.0.exists());
    }

    #[test]
    fn two_outputs_of_one_name_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let output =
            |path: &str| Output::with(&place.path().join(path), |out| out.write_all(b"x")).unwrap();
        let error = publish(vec![output("a"), output("./a")]);
        assert!(matches!(error, Err(Error::CannotWrite { .. })));
        assert!(names(place.path()).is_empty());
    }

    #[test]
    fn without_files_that_have_no_name_the_promises_are_the_same() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("m");
        for content in ["first", "second"] {
            let part = PartName::new(&path).unwrap();
            let mut file = private_until_finished(&part.0, false).unwrap();
            assert_eq!(names(place.path()).len(), 1 + usize::from(content == "second"));
            file.write_all(content.as_bytes()).unwrap();
            let replaced = fs::metadata(&path).ok().map(Box::new);
            let at = Place::File { target: path.clone(), replaced, part: Some(part) };
            let output = Finished { path: path.clone(), place: at, file };
            output.take_name(false).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(place.path()), ["m"]);
        }
    }

    #[test]
    fn a_directory_is_written_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("report");
        let files = |last: &str| [("a/b.txt", "1"), (last, "2")].map(|(n, c)| (n.into(), c.into()));
        save_directory(&path, &files("a/b.txt/c")).unwrap_err();
        assert!(names(place.path()).is_empty());
        save_directory(&path, &files("c.txt")).unwrap();
        assert_eq!(
            (names(place.path()), names(&path)),
            (vec!["report".into()], vec!["a".into(), "c.txt".into()])
        );
        // What was there is replaced as a whole, and stays if the new one cannot be written.
        save_directory(&path, &files("a/b.txt/c")).unwrap_err();
        assert_eq!(names(&path), ["a", "c.txt"]);
        save_directory(&path, &files("d.txt")).unwrap();
        assert_eq!(
            (names(place.path()).len(), names(&path)),
            (1, vec!["a".into(), "d.txt".into()])
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_a_private_file_stays_private() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("deep")).unwrap();
        symlink("link2", path("link")).unwrap();
        symlink("deep/file", path("link2")).unwrap();
        for content in ["new", "replaced"] {
            save(&path("link"), |out| out.write_all(content.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(path("deep/file")).unwrap(), content);
            assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
            fs::set_permissions(path("deep/file"), fs::Permissions::from_mode(0o600)).unwrap();
        }
        save(&path("link"), |out| out.write_all(b"again")).unwrap();
        assert_eq!(fs::metadata(path("deep/file")).unwrap().permissions().mode() & 0o777, 0o600);
        symlink("circle", path("circle")).unwrap();
        assert!(save(&path("circle"), |out| out.write_all(b"x")).is_err());
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        save(&path, |out| out.write_all(b"old")).unwrap();
        let error = save(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("interrupted"))
        });
        assert!(error.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_saved_compressed_opens_decompressed() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.arff", "a.arff.gz", "a.arff.bz2"] {
            let path = directory.path().join(name);
            save(&path, |out| out.write_all(b"@relation x")).unwrap();
            let mut text = String::new();
            open(&path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "@relation x");
        }
    }
}
