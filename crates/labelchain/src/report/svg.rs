//! Drawings as SVG, which browsers show.
//!
//! Lines and text have the colour `currentColor`: a drawing within a page takes the page's text
//! colour. A drawing in a file of its own is black on white.

use std::fmt::{self, Write as _};

use super::drawing::{Anchor, Colour, Drawing, Shape, Style};

/// The SVG text, with a title and a description for screen readers.
pub(super) fn svg(drawing: &Drawing, id: &str, title: &str, description: &str) -> String {
    let (w, h) = (Length(drawing.width), Length(drawing.height));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\" color=\"#111\" \
         font-family=\"Helvetica, Arial, sans-serif\">\n<title id=\"{id}-title\">{}</title>\n\
         <style>svg:root {{ background: #fff }}</style>\n<desc id=\"{id}-text\">{}</desc>\n",
        Escaped(title),
        Escaped(description),
    );
    for shape in &drawing.shapes {
        // Writing into a string does not fail.
        let _ = element(shape, &mut text);
        text.push('\n');
    }
    text + "</svg>\n"
}

fn element(shape: &Shape, out: &mut String) -> fmt::Result {
    match shape {
        Shape::Path { points, is_closed, style, tooltip } => {
            out.push_str("<path d=\"");
            for (at, (x, y)) in points.iter().enumerate() {
                write!(out, "{}{} {}", if at == 0 { 'M' } else { 'L' }, Length(*x), Length(*y))?;
            }
            let close = if *is_closed { "Z" } else { "" };
            write!(out, "{close}\" {}{}", Attributes(*style), End("path", tooltip))
        }
        Shape::Disc { centre: (x, y), radius, colour, tooltip } => write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}{}",
            Length(*x),
            Length(*y),
            Length(*radius),
            Attributes(Style::area(*colour)),
            End("circle", tooltip)
        ),
        Shape::Text { at, anchor, size, rise, text } => {
            let (x, y) = (Length(at.0), Length(at.1));
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let size = Length(*size);
            write!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"{size}\"")?;
            if *rise != 0.0 {
                // SVG turns clockwise, for y points down.
                write!(out, " transform=\"rotate({} {x} {y})\"", Length(-rise))?;
            }
            write!(out, " fill=\"currentColor\">{}</text>", Escaped(text))
        }
    }
}

/// The attributes of a style.
struct Attributes(Style);

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Style { colour, opacity, width, dashes } = self.0;
        let what = if width.is_some() { "stroke" } else { "fill" };
        match colour {
            Colour::Ink => write!(f, "{what}=\"currentColor\"")?,
            Colour::Rgb(r, g, b) => write!(f, "{what}=\"#{r:02x}{g:02x}{b:02x}\"")?,
        }
        if opacity < 1.0 {
            write!(f, " {what}-opacity=\"{opacity:.2}\"")?;
        }
        if let Some(width) = width {
            f.write_str(" fill=\"none\"")?;
            if width != 1.0 {
                write!(f, " stroke-width=\"{}\"", Length(width))?;
            }
        }
        if let Some((dash, gap)) = dashes {
            write!(f, " stroke-dasharray=\"{} {}\"", Length(dash), Length(gap))?;
        }
        Ok(())
    }
}

/// The end of a shape's element, with its tooltip, if there is one, as the title that browsers show.
struct End<'a>(&'static str, &'a str);

impl fmt::Display for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let End(element, tooltip) = self;
        if tooltip.is_empty() {
            return f.write_str("/>");
        }
        write!(f, "><title>{}</title></{element}>", Escaped(tooltip))
    }
}

/// A length, written with a precision of a tenth of a pixel.
struct Length(f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // Adding 0 turns -0 into 0.
        write!(f, "{}", tenths + 0.0)
    }
}

/// Text, escaped for XML and HTML.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // Control characters are not allowed in XML.
                c if c.is_control() => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text((0.0, 0.0), Anchor::Start, 10.0, "</text><script>");
        drawing.mark((0.0, 0.0), 2.0, 1, "a < b & \"c\"");
        let svg = svg(&drawing, "x", "t", "d");
        assert!(svg.contains(">&lt;/text&gt;&lt;script&gt;<"), "{svg}");
        assert!(svg.contains("<title>a &lt; b &amp; &quot;c&quot;</title>"), "{svg}");
    }
}
