//! Drawings as PDF, for LaTeX and for print: vectors on one page that is as large as the drawing.
//!
//! Text is in Helvetica, one of the fonts that every program which shows PDF has, so none is embedded.
//! Nothing is transparent, since some publishers refuse that: a colour is mixed with white paper
//! beforehand. The bytes depend on the drawing alone.

use std::fmt::Write as _;

use super::drawing::{Anchor, Colour, Drawing, Point, Shape, Style, text_width};

/// A pixel is 1/96 of an inch, a point of PDF 1/72.
const POINTS: f64 = 0.75;

/// The colour of [`Colour::Ink`] on paper.
const INK: (u8, u8, u8) = (0x11, 0x11, 0x11);

/// The bytes of the file.
pub(super) fn pdf(drawing: &Drawing, title: &str) -> Vec<u8> {
    let (width, height) = (drawing.width * POINTS, drawing.height * POINTS);
    // From here on, lengths are pixels and y points down, as in the drawing.
    let mut content =
        format!("{POINTS} 0 0 -{POINTS} 0 {} cm 1 J 1 j\n", number(height)).into_bytes();
    drawing.shapes.iter().for_each(|shape| draw(shape, &mut content));

    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {} {}]/Contents 4 0 R\
             /Resources<</Font<</F 5 0 R>>>>>>",
            number(width),
            number(height)
        )
        .into_bytes(),
        [format!("<</Length {}>>stream\n", content.len()).as_bytes(), &content, b"endstream"]
            .concat(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        [b"<</Title", &literal(title)[..], b">>"].concat(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in (1..).zip(&objects) {
        offsets.push(file.len());
        file.extend_from_slice(format!("{at} 0 obj\n").as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let table = file.len();
    // An entry of the table has exactly 20 bytes.
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(end, "{offset:010} 00000 n ");
    }
    let _ = write!(
        end,
        "trailer<</Size {}/Root 1 0 R/Info 6 0 R>>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend_from_slice(end.as_bytes());
    file
}

fn draw(shape: &Shape, out: &mut Vec<u8>) {
    match shape {
        Shape::Path { points, is_closed, style, .. } => {
            let mut path = paint(*style);
            for (at, point) in points.iter().enumerate() {
                let _ = writeln!(path, "{} {}", place(*point), if at == 0 { 'm' } else { 'l' });
            }
            path += if *is_closed { "h " } else { "" };
            path += if style.width.is_some() { "S\n" } else { "f\n" };
            out.extend_from_slice(path.as_bytes());
        }
        Shape::Disc { centre: (x, y), radius: r, colour, .. } => {
            // A quarter of a circle is a cubic curve whose inner points are 0.5523 r from its ends.
            let c = 0.5523 * r;
            let mut path = paint(Style::area(*colour));
            let _ = writeln!(path, "{} m", place((x + r, *y)));
            for [a, b, end] in [
                [(x + r, y + c), (x + c, y + r), (*x, y + r)],
                [(x - c, y + r), (x - r, y + c), (x - r, *y)],
                [(x - r, y - c), (x - c, y - r), (*x, y - r)],
                [(x + c, y - r), (x + r, y - c), (x + r, *y)],
            ] {
                let _ = writeln!(path, "{} {} {} c", place(a), place(b), place(end));
            }
            out.extend_from_slice((path + "f\n").as_bytes());
        }
        Shape::Text { at: (x, y), anchor, size, rise, text } => {
            let (sin, cos) = rise.to_radians().sin_cos();
            let back = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => text_width(text, *size) / 2.0,
                Anchor::End => text_width(text, *size),
            };
            // The text runs along (cos, -sin), and its letters stand upright although y points down.
            let matrix = [cos, -sin, -sin, -cos].map(number).join(" ");
            let start = place((x - back * cos, y + back * sin));
            let style = paint(Style::area(Colour::Ink));
            let begin = format!("{style}BT /F {} Tf {matrix} {start} Tm ", number(*size));
            out.extend_from_slice(begin.as_bytes());
            out.extend_from_slice(&literal(text));
            out.extend_from_slice(b" Tj ET\n");
        }
    }
}

/// The operators that set the colour, the width and the dashes of what follows.
fn paint(style: Style) -> String {
    let (r, g, b) = match style.colour {
        Colour::Ink => INK,
        Colour::Rgb(r, g, b) => (r, g, b),
    };
    let on_white = |part: u8| number(1.0 - (1.0 - f64::from(part) / 255.0) * style.opacity);
    let [r, g, b] = [r, g, b].map(on_white);
    match style.width {
        None => format!("{r} {g} {b} rg\n"),
        Some(width) => {
            let dashes = style.dashes.map(|(dash, gap)| format!("{dash} {gap}"));
            let dashes = dashes.unwrap_or_default();
            format!("{r} {g} {b} RG {} w [{dashes}] 0 d\n", number(width))
        }
    }
}

fn place((x, y): Point) -> String {
    format!("{} {}", number(x), number(y))
}

/// A number without an exponent, which PDF does not have.
fn number(value: f64) -> String {
    // Adding 0 turns -0 into 0.
    format!("{}", (value * 1000.0).round() / 1000.0 + 0.0)
}

/// Text as a string of PDF, in the encoding of Windows for Western Europe, which is that of the font.
/// What the encoding does not have becomes a question mark.
fn literal(text: &str) -> Vec<u8> {
    let mut bytes = b"(".to_vec();
    for c in text.chars() {
        let byte = match c {
            ' '..='~' | '\u{a1}'..='\u{ff}' => c as u8,
            '€' => 0x80,
            '…' => 0x85,
            '†' => 0x86,
            '‘' => 0x91,
            '’' => 0x92,
            '“' => 0x93,
            '”' => 0x94,
            '•' => 0x95,
            '–' => 0x96,
            '—' => 0x97,
            _ => b'?',
        };
        if b"()\\".contains(&byte) {
            bytes.push(b'\\');
        }
        bytes.push(byte);
    }
    bytes.push(b')');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> Vec<u8> {
        let mut drawing = Drawing::new(40.0, 20.0);
        drawing.text((40.0, 10.0), Anchor::End, 10.0, "a (é) 日");
        drawing.mark((20.0, 10.0), 2.0, 0, "");
        drawing.line((0.0, 0.0), (40.0, 20.0), Style::line(Colour::Ink, 1.0).with_opacity(0.5));
        pdf(&drawing, "t")
    }

    #[test]
    fn every_offset_leads_to_its_object() {
        let file = drawn();
        let text: String = file.iter().map(|&byte| byte as char).collect();
        let table = text.split("startxref\n").nth(1).unwrap().lines().next().unwrap();
        let table: usize = table.parse().unwrap();
        let mut entries =
            text[..].char_indices().nth(table).map(|(at, _)| text[at..].lines()).unwrap();
        assert_eq!((entries.next(), entries.next()), (Some("xref"), Some("0 7")));
        for (number, entry) in entries.take(7).enumerate().skip(1) {
            let offset: usize = entry[..10].parse().unwrap();
            let object = format!("{number} 0 obj\n");
            assert_eq!(&file[offset..offset + object.len()], object.as_bytes());
        }
        // The stream is as long as it says.
        let (length, rest) =
            text.split_once("<</Length ").unwrap().1.split_once(">>stream\n").unwrap();
        let stream: String = rest.chars().take(length.parse().unwrap()).collect();
        assert!(stream.ends_with("S\n") && rest[stream.len()..].starts_with("endstream"));
    }

    #[test]
    fn text_is_escaped_anchored_and_in_the_fonts_encoding() {
        let text: String = drawn().iter().map(|&byte| byte as char).collect();
        // a 556, space 278, ( 333, é 556, ) 333, space 278, ? 556: 28.9 pixels.
        assert!(text.contains("/F 10 Tf 1 0 0 -1 11.1 10 Tm (a \\(\u{e9}\\) ?) Tj"), "{text}");
        // Half of ink on white: 1 - (1 - 17/255) / 2.
        assert!(text.contains("0.533 0.533 0.533 RG 1 w [] 0 d"), "{text}");
    }
}
