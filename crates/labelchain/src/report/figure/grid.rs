//! The frame of a heat map: cells, the names of rows on the left and those of columns above.

use super::super::drawing::{Anchor, Drawing, Point, fit, text_width};

const FONT_SIZE: f64 = 13.0;
/// The size and the direction, in degrees, of names above that are wider than their column.
const RISING_SIZE: f64 = 12.0;
const RISE: f64 = 50.0;

/// Where the cells of a heat map are.
pub(super) struct Grid {
    margin: f64,
    top: f64,
    /// The width and the height of a cell.
    pub(super) cell: Point,
    width: f64,
    /// The lower edge of the last row.
    bottom: f64,
    is_rising: bool,
}

impl Grid {
    /// A grid for these names, at most `max_width` wide, with cells that are at most as large as
    /// `max_cell`.
    pub(super) fn new(
        rows: &[String],
        columns: &[String],
        max_width: f64,
        max_cell: Point,
    ) -> Grid {
        let widest = |names: &[String], size: f64| {
            names.iter().map(|name| text_width(name, size)).fold(0.0, f64::max)
        };
        let margin = (widest(rows, FONT_SIZE) + 12.0).clamp(64.0, 180.0);
        let n_columns = columns.len() as f64;
        let level = ((max_width - margin - 4.0) / n_columns).min(max_cell.0);
        let is_rising = widest(columns, FONT_SIZE) > level - 8.0;
        // A rising name reaches beyond its column, and the last one beyond the grid.
        let (sin, cos) = RISE.to_radians().sin_cos();
        let length = widest(columns, RISING_SIZE).min(margin.max(110.0));
        let (top, right) = if is_rising {
            (length * sin + 18.0, (length * cos - 8.0).max(4.0))
        } else {
            (26.0, 4.0)
        };
        let width = ((max_width - margin - right) / n_columns).min(max_cell.0);
        let height = max_cell.1.min(width.max(24.0));
        Grid {
            margin,
            top,
            cell: (width, height),
            width: margin + n_columns * width + right,
            bottom: top + rows.len() as f64 * height,
            is_rising,
        }
    }

    /// A drawing with the names, and with room for `below` pixels under the last row.
    pub(super) fn drawing(&self, rows: &[String], columns: &[String], below: f64) -> Drawing {
        let mut drawing = Drawing::new(self.width, self.bottom + below);
        for (row, name) in rows.iter().enumerate() {
            let name = fit(name, FONT_SIZE, self.margin - 10.0);
            let y = self.top + (row as f64 + 0.5) * self.cell.1 + 4.5;
            drawing.text((self.margin - 8.0, y), Anchor::End, FONT_SIZE, &name);
        }
        for (column, name) in columns.iter().enumerate() {
            let (x, y) = (self.at(0, column).0 + self.cell.0 / 2.0, self.top - 8.0);
            if self.is_rising {
                let name = fit(name, RISING_SIZE, self.margin.max(110.0));
                drawing.rising_text((x + 2.0, y), RISE, RISING_SIZE, &name);
            } else {
                drawing.text((x, y), Anchor::Middle, FONT_SIZE, name);
            }
        }
        drawing
    }

    /// Writes the name of a line under the last row.
    pub(super) fn name_below(&self, drawing: &mut Drawing, size: f64, name: &str) {
        drawing.text((self.margin - 8.0, self.below()), Anchor::End, size, name);
    }

    /// The foot of a line under the last row.
    pub(super) fn below(&self) -> f64 {
        self.bottom + 16.0
    }

    /// The upper left corner of a cell.
    pub(super) fn at(&self, row: usize, column: usize) -> Point {
        (self.margin + column as f64 * self.cell.0, self.top + row as f64 * self.cell.1)
    }

    /// The middle of a cell.
    pub(super) fn middle(&self, row: usize, column: usize) -> Point {
        let (x, y) = self.at(row, column);
        (x + self.cell.0 / 2.0, y + self.cell.1 / 2.0)
    }
}
