//! Drawings: a few shapes, and marks that distinguish methods by shape as well as by colour. What a
//! shape looks like in a file, [SVG](super::svg) and [PDF](super::pdf) say, each for itself.

/// A colour of a line, an area or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// The colour of text: black on white paper, but white where a page is dark.
    Ink,
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// The blue of what is neither a method nor text: bars of Wilcoxon's test, cells of heat maps.
pub(super) const BLUE: Colour = Colour::Rgb(0x00, 0x72, 0xb2);

/// Colours that colour-blind people can distinguish (Okabe and Ito); those of the palette that are
/// visible both on white and on black.
const COLOURS: [Colour; 7] = [
    BLUE,
    Colour::Rgb(0xd5, 0x5e, 0x00),
    Colour::Rgb(0x00, 0x9e, 0x73),
    Colour::Rgb(0xcc, 0x79, 0xa7),
    Colour::Rgb(0xe6, 0x9f, 0x00),
    Colour::Rgb(0x56, 0xb4, 0xe9),
    Colour::Rgb(0x80, 0x80, 0x80),
];

/// The colour of the method with this index.
pub(super) fn colour(method: usize) -> Colour {
    COLOURS[method % COLOURS.len()]
}

/// How a shape is drawn: its outline, its area, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) colour: Colour,
    /// From 0, invisible, to 1.
    pub(super) opacity: f64,
    /// The width of the outline; `None` fills the area instead.
    pub(super) width: Option<f64>,
    /// The lengths of a dash and of the gap after it; a line without dashes has none.
    pub(super) dashes: Option<(f64, f64)>,
}

impl Style {
    pub(super) const fn line(colour: Colour, width: f64) -> Style {
        Style { colour, opacity: 1.0, width: Some(width), dashes: None }
    }

    pub(super) const fn area(colour: Colour) -> Style {
        Style { colour, opacity: 1.0, width: None, dashes: None }
    }

    pub(super) const fn with_opacity(self, opacity: f64) -> Style {
        Style { opacity, ..self }
    }
}

/// The style of grid lines.
pub(super) const GUIDE: Style = INK.with_opacity(0.2);
/// The style of lines that show data or an axis.
pub(super) const INK: Style = Style::line(Colour::Ink, 1.0);

/// Which part of a text is placed at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A point, in pixels from the upper left corner.
pub(super) type Point = (f64, f64);

/// A part of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Straight lines from point to point, and back to the first if it is closed.
    Path { points: Vec<Point>, is_closed: bool, style: Style, tooltip: String },
    /// A filled circle.
    Disc { centre: Point, radius: f64, colour: Colour, tooltip: String },
    /// A line of text, rising from left to right by some degrees.
    Text { at: Point, anchor: Anchor, size: f64, rise: f64, text: String },
}

/// A drawing to which shapes are added. Lengths are pixels, and y points down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, shapes: Vec::new() }
    }

    pub(super) fn line(&mut self, from: Point, to: Point, style: Style) {
        self.path(&[from, to], false, style);
    }

    /// A line through points, back to the first if it is closed.
    pub(super) fn path(&mut self, points: &[Point], is_closed: bool, style: Style) {
        let (points, tooltip) = (points.into(), String::new());
        self.shapes.push(Shape::Path { points, is_closed, style, tooltip });
    }

    pub(super) fn rectangle(&mut self, (x, y): Point, size: Point, style: Style, tooltip: &str) {
        let (right, bottom) = (x + size.0, y + size.1);
        let points = vec![(x, y), (right, y), (right, bottom), (x, bottom)];
        self.shapes.push(Shape::Path { points, is_closed: true, style, tooltip: tooltip.into() });
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, size: f64, text: &str) {
        self.shapes.push(Shape::Text { at, anchor, size, rise: 0.0, text: text.into() });
    }

    /// A text that begins at a point and rises to the right.
    pub(super) fn rising_text(&mut self, at: Point, rise: f64, size: f64, text: &str) {
        let anchor = Anchor::Start;
        self.shapes.push(Shape::Text { at, anchor, size, rise, text: text.into() });
    }

    /// The mark of a method, with a tooltip.
    pub(super) fn mark(&mut self, centre: Point, r: f64, method: usize, tooltip: &str) {
        let (colour, tooltip) = (colour(method), tooltip.to_string());
        // There are 8 shapes and 7 colours, so that a combination of both repeats only after 56
        // methods. A polygon is as large as the disc: number of corners, direction of the first, and
        // how far out they are.
        let (n, turn, r) = match method % 8 {
            0 => {
                self.shapes.push(Shape::Disc { centre, radius: r, colour, tooltip });
                return;
            }
            1 => (4, 45.0, 1.3 * r),
            2 => (3, 0.0, 1.35 * r),
            3 => (4, 0.0, 1.35 * r),
            4 => (3, 180.0, 1.35 * r),
            5 => (5, 0.0, 1.25 * r),
            6 => (6, 0.0, 1.2 * r),
            _ => (3, 90.0, 1.35 * r),
        };
        let corner = |at: usize| {
            let angle = (turn + 360.0 * at as f64 / n as f64).to_radians();
            (centre.0 + r * angle.sin(), centre.1 - r * angle.cos())
        };
        let points = (0..n).map(corner).collect();
        self.shapes.push(Shape::Path {
            points,
            is_closed: true,
            style: Style::area(colour),
            tooltip,
        });
    }

    /// Draws the marks and names of methods, in as many lines as they need, and returns the height.
    pub(super) fn legend(&mut self, top: f64, methods: &[String]) -> f64 {
        let (mut x, mut y) = (10.0, top + 10.0);
        for (method, name) in methods.iter().enumerate() {
            let name = fit(name, 13.0, self.width - 40.0);
            let wide = 26.0 + text_width(&name, 13.0);
            if x > 10.0 && x + wide > self.width {
                (x, y) = (10.0, y + 20.0);
            }
            self.mark((x + 5.0, y), 5.0, method, "");
            self.text((x + 15.0, y + 4.5), Anchor::Start, 13.0, &name);
            x += wide;
        }
        y + 14.0 - top
    }

    /// The height of a legend, without drawing it.
    pub(super) fn legend_height(width: f64, methods: &[String]) -> f64 {
        Drawing::new(width, 0.0).legend(0.0, methods)
    }
}

/// The widths of the characters from space to tilde in Helvetica, in thousandths of the font's size, as
/// Adobe's metrics of the standard fonts of PDF have them.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// The width of a text in Helvetica. Of the characters beyond ASCII, an ellipsis is as wide as the font is
/// high, and letters count as wide as digits, which most of those with accents are.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let width = |c: char| {
        let place = (c as usize).checked_sub(' ' as usize);
        let others = if c == '…' { 1000 } else { 556 };
        place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(others)
    };
    text.chars().map(|c| f64::from(width(c))).sum::<f64>() * size / 1000.0
}

/// A name that fits into this many pixels. One that is too long loses its middle, so that methods
/// which begin alike, such as `certain-nb@macro-f1` and `certain-nb@micro-f1`, stay distinct.
pub(super) fn fit(name: &str, size: f64, width: f64) -> String {
    if text_width(name, size) <= width {
        return name.into();
    }
    let letters: Vec<char> = name.chars().collect();
    let shortened = |n_kept: usize| -> String {
        let n_first = n_kept / 2;
        let last = &letters[letters.len() - (n_kept - n_first)..];
        letters[..n_first].iter().chain(&['…']).chain(last).collect()
    };
    let fits = |n_kept: &usize| text_width(&shortened(*n_kept), size) <= width;
    // No figure has room for more letters than this.
    let longest = (letters.len() - 1).min(200);
    (0..=longest).rev().find(fits).map_or_else(|| "…".into(), shortened)
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
    fn a_long_name_fits_and_keeps_what_tells_it_apart() {
        let names = ["certain-forest@macro-f1", "certain-forest@micro-f1"];
        let shown = names.map(|name| fit(name, 13.0, 100.0));
        assert_eq!(shown, ["certain…acro-f1", "certain…micro-f1"]);
        assert!(shown.iter().all(|name| text_width(name, 13.0) <= 100.0));
        assert_eq!(fit("ecc-nb", 13.0, 100.0), "ecc-nb");
        assert_eq!(fit("ecc-nb", 13.0, 1.0), "…");
    }

    #[test]
    fn text_is_as_wide_as_in_helvetica() {
        // H 722, a 556, m 833, m 833, i 222, n 556, g 556.
        assert_eq!(text_width("Hamming", 10.0), 42.78);
        assert_eq!(text_width("~", 1000.0), 584.0);
        assert_eq!(text_width("é日", 1000.0), 1112.0);
    }
}
