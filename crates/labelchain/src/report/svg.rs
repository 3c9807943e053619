//! Drawings as SVG: a few shapes, and marks that distinguish methods by shape as well as by colour.
//!
//! Lines and text have the colour `currentColor`: a drawing within a page takes the page's text
//! colour. A drawing in a file of its own is black on white.

use std::fmt::{self, Write as _};

/// Colours that colour-blind people can distinguish (Okabe and Ito); those of the palette that are
/// visible both on white and on black.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#808080"];

/// The colour of the method with this index.
pub(super) fn colour(method: usize) -> &'static str {
    COLOURS[method % COLOURS.len()]
}

/// The style of grid lines.
pub(super) const GUIDE: &str = "stroke=\"currentColor\" stroke-opacity=\".2\" fill=\"none\"";
/// The style of lines that show data or an axis.
pub(super) const INK: &str = "stroke=\"currentColor\" fill=\"none\"";

/// Which part of a text is placed at its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing to which shapes are added. Lengths are pixels, and y points down.
pub(super) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, body: String::new() }
    }

    fn add(&mut self, element: fmt::Arguments) {
        // Writing into a string does not fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.add(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {style}/>",
            Length(from.0),
            Length(from.1),
            Length(to.0),
            Length(to.1)
        ));
    }

    /// A line through points, back to the first if it is closed.
    pub(super) fn path(&mut self, points: &[(f64, f64)], is_closed: bool, style: &str) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { 'M' } else { 'L' }, Length(*x), Length(*y));
        }
        let close = if is_closed { "Z" } else { "" };
        self.add(format_args!("<path d=\"{d}{close}\" {style}/>"));
    }

    pub(super) fn rectangle(
        &mut self,
        at: (f64, f64),
        size: (f64, f64),
        style: &str,
        tooltip: &str,
    ) {
        self.add(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {style}>{}</rect>",
            Length(at.0),
            Length(at.1),
            Length(size.0),
            Length(size.1),
            Tooltip(tooltip)
        ));
    }

    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             fill=\"currentColor\">{}</text>",
            Length(at.0),
            Length(at.1),
            Escaped(text)
        ));
    }

    /// The mark of a method, with a tooltip.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), r: f64, method: usize, tooltip: &str) {
        // There are 8 shapes and 7 colours, so that a combination of both repeats only after 56
        // methods.
        let corner = |angle: f64, r: f64| {
            let angle = angle.to_radians();
            format!("{} {}", Length(x + r * angle.sin()), Length(y - r * angle.cos()))
        };
        let polygon = |n: usize, turn: f64, r: f64| {
            let corners = (0..n).map(|at| corner(turn + 360.0 * at as f64 / n as f64, r));
            format!("M{}Z", corners.collect::<Vec<_>>().join("L"))
        };
        let d = match method % 8 {
            0 => {
                let (left, right) = (Length(x - r), Length(2.0 * r));
                let r = Length(r);
                format!("M{left} {}a{r} {r} 0 1 0 {right} 0a{r} {r} 0 1 0 -{right} 0Z", Length(y))
            }
            1 => polygon(4, 45.0, 1.3 * r),
            2 => polygon(3, 0.0, 1.35 * r),
            3 => polygon(4, 0.0, 1.35 * r),
            4 => polygon(3, 180.0, 1.35 * r),
            5 => polygon(5, 0.0, 1.25 * r),
            6 => polygon(6, 0.0, 1.2 * r),
            _ => polygon(3, 90.0, 1.35 * r),
        };
        self.add(format_args!(
            "<path d=\"{d}\" fill=\"{}\">{}</path>",
            colour(method),
            Tooltip(tooltip)
        ));
    }

    /// Draws the marks and names of methods, in as many lines as they need, and returns the height.
    pub(super) fn legend(&mut self, top: f64, methods: &[String]) -> f64 {
        let (mut x, mut y) = (10.0, top + 10.0);
        for (method, name) in methods.iter().enumerate() {
            let wide = 26.0 + text_width(name, 13.0);
            if x > 10.0 && x + wide > self.width {
                (x, y) = (10.0, y + 20.0);
            }
            self.mark((x + 5.0, y), 5.0, method, "");
            self.text((x + 15.0, y + 4.5), Anchor::Start, 13.0, name);
            x += wide;
        }
        y + 14.0 - top
    }

    /// The height of a legend, without drawing it.
    pub(super) fn legend_height(width: f64, methods: &[String]) -> f64 {
        Drawing::new(width, 0.0).legend(0.0, methods)
    }

    /// The SVG text, with a title and a description for screen readers.
    pub(super) fn finish(self, id: &str, title: &str, description: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\" color=\"#111\" \
             font-family=\"Helvetica, Arial, sans-serif\">\n<title id=\"{id}-title\">{}</title>\n\
             <style>svg:root {{ background: #fff }}</style>\n\
             <desc id=\"{id}-text\">{}</desc>\n{}</svg>\n",
            Escaped(title),
            Escaped(description),
            self.body,
            w = Length(self.width),
            h = Length(self.height),
        )
    }
}

/// The approximate width of a text: letters of Helvetica are on average 0.56 times as wide as high.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// A name that fits into this many pixels, shortened if necessary.
pub(super) fn fit(name: &str, size: f64, width: f64) -> String {
    let max_chars = (width / (size * 0.56)) as usize;
    if name.chars().count() > max_chars {
        name.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
    } else {
        name.into()
    }
}

/// Tick positions at round numbers, from at most `low` to at least `high`, in about `n` steps.
pub(super) fn ticks(low: f64, high: f64, n: usize) -> Vec<f64> {
    // If all values are equal, or nearly, the scale still needs a span greater than 0.
    let is_wide = high - low > low.abs() * 1e-9 + 1e-12;
    let span = if is_wide { high - low } else { low.abs().max(1.0) * 1e-3 };
    let high = low + span;
    let raw = span / n as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|&times| times * power >= raw * 0.999);
    let step = step.unwrap_or(10.0) * power;
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let n_steps = ((last - first) as usize).clamp(1, 3 * n);
    (0..=n_steps).map(|at| (first + at as f64) * step).collect()
}

/// The label of a tick, with as many decimals as the distance between ticks needs.
pub(super) fn tick_text(value: f64, ticks: &[f64]) -> String {
    let step = if ticks.len() > 1 { ticks[1] - ticks[0] } else { 1.0 };
    let decimals = (-step.log10() + 1e-9).ceil().clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
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

/// The `title` element of a shape, which browsers show as a tooltip; nothing if it is empty.
struct Tooltip<'a>(&'a str);

impl fmt::Display for Tooltip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "<title>{}</title>", Escaped(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_include_both_ends() {
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(0.13, 0.58, 3), [0.0, 0.2, 0.4, 0.6000000000000001]);
        assert_eq!(tick_text(0.6000000000000001, &ticks(0.0, 1.0, 5)), "0.6");
        // A span of 0.002 in four steps of 0.0005.
        let alone = ticks(2.0, 2.0, 4);
        assert_eq!((alone.len(), tick_text(alone[1], &alone).as_str()), (5, "2.0005"));
    }

    #[test]
    fn names_are_escaped() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text((0.0, 0.0), Anchor::Start, 10.0, "</text><script>");
        drawing.mark((0.0, 0.0), 2.0, 1, "a < b & \"c\"");
        let svg = drawing.finish("x", "t", "d");
        assert!(svg.contains(">&lt;/text&gt;&lt;script&gt;<"), "{svg}");
        assert!(svg.contains("<title>a &lt; b &amp; &quot;c&quot;</title>"), "{svg}");
    }
}
