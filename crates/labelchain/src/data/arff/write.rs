//! ARFF out: labels last, as `{0,1}`, with MEKA's `-C -n` in the relation name.

use std::io::{self, Write};

use crate::data::{Attribute, AttributeKind, Bags, Dataset, Matrix, Spelt, number};

/// Writes everything up to the rows. Rows behind it read as the same data set, to the bit.
pub(crate) fn write_header(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    declare_relation(data, out)?;
    data.attributes().iter().try_for_each(|attribute| declare(attribute, out))?;
    declare_labels(data, out)
}

/// Writes the rows.
pub(crate) fn write_rows(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    (0..data.n_rows()).try_for_each(|row| write_row(data, row, None, &mut line, out))
}

/// Writes multi-instance data: each bag's instances as one quoted cell.
pub(crate) fn write_bags(bags: &Bags, out: &mut dyn Write) -> io::Result<()> {
    let data = bags.rows();
    declare_relation(data, out)?;
    data.attributes().iter().try_for_each(|attribute| declare(attribute, out))?;
    writeln!(out, "@attribute {} relational", quoted(bags.name()))?;
    bags.attributes().iter().try_for_each(|attribute| declare(attribute, out))?;
    writeln!(out, "@end {}", quoted(bags.name()))?;
    declare_labels(data, out)?;
    let (mut instances, mut line) = (Vec::new(), Vec::new());
    for row in 0..data.n_rows() {
        instances.clear();
        for instance in bags.instances_of(row) {
            if !instances.is_empty() {
                instances.push(b'\n');
            }
            let cells = (0..bags.attributes().len()).map(|at| bags.instances().get(instance, at));
            push_cells(bags.attributes(), cells, &mut instances);
        }
        let bag = String::from_utf8_lossy(&instances);
        write_row(data, row, Some(&bag), &mut line, out)?;
    }
    Ok(())
}

fn declare_relation(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    data.history().iter().try_for_each(|step| writeln!(out, "% {step}"))?;
    let relation = format!("{}: -C -{}", data.name(), data.n_labels());
    writeln!(out, "@relation {}\n", quoted(&relation))
}

fn declare(attribute: &Attribute, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "@attribute {} ", quoted(&attribute.name))?;
    match &attribute.kind {
        AttributeKind::Numeric | AttributeKind::Word => writeln!(out, "numeric"),
        AttributeKind::Date | AttributeKind::Text(_) => writeln!(out, "string"),
        AttributeKind::Nominal(values) => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            writeln!(out, "{{{}}}", values.join(","))
        }
    }
}

fn declare_labels(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    for name in data.label_names() {
        writeln!(out, "@attribute {} {{0,1}}", quoted(name))?;
    }
    writeln!(out, "\n@data")
}

/// Writes one row; `line` is kept to be filled again.
fn write_row(
    data: &Dataset,
    row: usize,
    bag: Option<&str>,
    line: &mut Vec<u8>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let attributes = data.attributes();
    line.clear();
    match data.features() {
        // A sparse row would not say how many instances an empty bag has.
        Matrix::Sparse(_) if bag.is_none() => {
            line.push(b'{');
            for (column, value) in data.features().entries(row) {
                push_index(column, line);
                push_cell(&attributes[column], value, line);
            }
            for label in data.labels().ids() {
                let cell = data.labels().cell(row, label);
                if cell != Some(false) {
                    push_index(attributes.len() + label.0, line);
                    line.push(label_cell(cell));
                }
            }
            line.push(b'}');
        }
        features => {
            push_cells(attributes, (0..attributes.len()).map(|at| features.get(row, at)), line);
            if let Some(bag) = bag {
                separate(line);
                line.extend(always_quoted(bag).bytes());
            }
            for label in data.labels().ids() {
                separate(line);
                line.push(label_cell(data.labels().cell(row, label)));
            }
        }
    }
    if let Some(weights) = data.weights() {
        line.extend(b",{");
        number::push(weights[row], line);
        line.push(b'}');
    }
    line.push(b'\n');
    out.write_all(line)
}

fn label_cell(relevant: Option<bool>) -> u8 {
    match relevant {
        Some(true) => b'1',
        Some(false) => b'0',
        None => b'?',
    }
}

fn separate(line: &mut Vec<u8>) {
    if !line.is_empty() {
        line.push(b',');
    }
}

fn push_index(column: usize, line: &mut Vec<u8>) {
    if line.len() > 1 {
        line.push(b',');
    }
    number::push(column as f64, line);
    line.push(b' ');
}

fn push_cells(attributes: &[Attribute], cells: impl Iterator<Item = f64>, line: &mut Vec<u8>) {
    for (at, (attribute, value)) in attributes.iter().zip(cells).enumerate() {
        if at > 0 {
            line.push(b',');
        }
        push_cell(attribute, value, line);
    }
}

fn push_cell(attribute: &Attribute, value: f64, line: &mut Vec<u8>) {
    match attribute.spelt(value) {
        None => line.push(b'?'),
        Some(Spelt::Number(value)) => number::push(value, line),
        Some(Spelt::Text(text)) => line.extend(quoted(&text).bytes()),
    }
}

/// A name or value as it must be written: bare where that is safe.
fn quoted(text: &str) -> String {
    let is_safe = |byte: u8| !byte.is_ascii_control() && !b" ,{}'\"%\\@?".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_safe) { text.into() } else { always_quoted(text) }
}

fn always_quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(c),
        }
    }
    quoted + "'"
}
