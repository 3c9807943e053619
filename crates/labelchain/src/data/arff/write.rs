//! ARFF out: labels last, as `{0,1}`, with MEKA's `-C -n` in the relation name.

use std::io::{self, Write};

use crate::data::{Attribute, AttributeKind, Bags, Dataset, Matrix, number};

/// Writes a data set so that reading it gives the same one, to the bit.
pub(crate) fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    declare_relation(data, out)?;
    data.attributes().iter().try_for_each(|attribute| declare(attribute, out))?;
    declare_labels(data, out)?;
    for row in 0..data.n_rows() {
        write_row(data, row, None, out)?;
    }
    Ok(())
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
    for row in 0..data.n_rows() {
        let instances: Vec<String> = bags
            .instances_of(row)
            .map(|instance| {
                let cells: Vec<String> = (0..bags.attributes().len())
                    .map(|at| cell(&bags.attributes()[at], bags.instances().get(instance, at)))
                    .collect();
                cells.join(",")
            })
            .collect();
        write_row(data, row, Some(&instances.join("\n")), out)?;
    }
    Ok(())
}

fn declare_relation(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let relation = format!("{}: -C -{}", data.name(), data.n_labels());
    writeln!(out, "@relation {}\n", quoted(&relation))
}

fn declare(attribute: &Attribute, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "@attribute {} ", quoted(&attribute.name))?;
    match &attribute.kind {
        AttributeKind::Numeric => writeln!(out, "numeric"),
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

fn write_row(data: &Dataset, row: usize, bag: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let attributes = data.attributes();
    let mut cells: Vec<String> = Vec::new();
    match data.features() {
        // A sparse row would not say how many instances an empty bag has.
        Matrix::Sparse(_) if bag.is_none() => {
            for (column, value) in data.features().entries(row) {
                cells.push(format!("{column} {}", cell(&attributes[column], value)));
            }
            let labels = data.labels().relevant(row);
            cells.extend(labels.map(|label| format!("{} 1", attributes.len() + label.0)));
            write!(out, "{{{}}}", cells.join(","))?;
        }
        features => {
            let inputs = attributes.iter().enumerate();
            cells.extend(inputs.map(|(at, attribute)| cell(attribute, features.get(row, at))));
            cells.extend(bag.map(always_quoted));
            let labels = data.labels();
            cells.extend(labels.ids().map(|label| u8::from(labels.get(row, label)).to_string()));
            write!(out, "{}", cells.join(","))?;
        }
    }
    match data.weights() {
        Some(weights) => writeln!(out, ",{{{}}}", number::text(weights[row])),
        None => writeln!(out),
    }
}

fn cell(attribute: &Attribute, value: f64) -> String {
    match (&attribute.kind, value.is_nan()) {
        (_, true) => "?".into(),
        (AttributeKind::Numeric, _) => number::text(value),
        (AttributeKind::Nominal(values), _) => {
            values.get(value as usize).map_or_else(|| "?".into(), |value| quoted(value))
        }
    }
}

/// A name or value as it must be written: bare where that is safe.
fn quoted(text: &str) -> String {
    let is_safe = |byte: u8| !byte.is_ascii_control() && !b" ,{}'\"%\\@?".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_safe) {
        true => text.into(),
        false => always_quoted(text),
    }
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
