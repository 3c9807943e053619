//! What does a smaller loss cost? Seconds against loss, a small plot for each criterion.

use super::super::drawing::{Anchor, Drawing, GUIDE, fit, tick_text, ticks};
use super::super::title;
use super::{Figure, WIDTH};
use crate::experiment::Results;
use crate::stats::Comparison;

/// Draws the figure, if the seconds of every method are known.
pub(in crate::report) fn time(results: &Results, comparison: &Comparison) -> Option<Figure> {
    let methods = &comparison.methods;
    let seconds: Vec<f64> =
        (0..methods.len()).map(|method| mean_seconds(results, method)).collect::<Option<_>>()?;
    let min_power = seconds.iter().copied().fold(f64::INFINITY, f64::min).log10().floor();
    let max_power = seconds.iter().copied().fold(0.0, f64::max).log10().ceil().max(min_power + 1.0);

    const COLUMNS: usize = 3;
    let (wide, high) = (WIDTH / COLUMNS as f64, 170.0);
    let n_rows = comparison.criteria.len().div_ceil(COLUMNS);
    let legend = Drawing::legend_height(WIDTH, methods);
    let mut drawing = Drawing::new(WIDTH, legend + n_rows as f64 * high + 6.0);
    drawing.legend(0.0, methods);
    let mut text = Vec::new();
    for (at, of) in comparison.criteria.iter().enumerate() {
        let mean = |method: usize| {
            let losses = of.used.iter().filter_map(|&set| of.table.losses[set][method]);
            losses.clone().sum::<f64>() / losses.count().max(1) as f64
        };
        let means: Vec<f64> = (0..methods.len()).map(mean).collect();
        let (low, top_loss) =
            means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &loss| {
                (low.min(loss), high.max(loss))
            });
        let ticks = ticks(low, top_loss, 3);
        let (low, top_loss) = (ticks[0], ticks[ticks.len() - 1]);
        let left = (at % COLUMNS) as f64 * wide + 40.0;
        let right = left + wide - 50.0;
        let top = legend + (at / COLUMNS) as f64 * high + 26.0;
        let bottom = top + high - 62.0;
        let x_of =
            |s: f64| left + (s.log10() - min_power) / (max_power - min_power) * (right - left);
        let y_of = |loss: f64| bottom - (loss - low) / (top_loss - low) * (bottom - top);
        let name = fit(&title(&of.table.criterion), 12.0, wide - 50.0);
        drawing.text((left, top - 10.0), Anchor::Start, 12.0, &name);
        for &tick in &ticks {
            drawing.line((left, y_of(tick)), (right, y_of(tick)), GUIDE);
            let text = tick_text(tick, &ticks);
            drawing.text((left - 5.0, y_of(tick) + 4.0), Anchor::End, 10.0, &text);
        }
        for power in min_power as i32..=max_power as i32 {
            let x = x_of(10f64.powi(power));
            drawing.line((x, top), (x, bottom), GUIDE);
            drawing.text((x, bottom + 13.0), Anchor::Middle, 10.0, &power_of_ten(power));
        }
        for (method, name) in methods.iter().enumerate() {
            let (s, loss) = (seconds[method], means[method]);
            let tooltip =
                format!("{name}, {}: {s:.3} s, mean {loss:.4}", title(&of.table.criterion));
            drawing.mark((x_of(s), y_of(loss)), 5.0, method, &tooltip);
            text.push(tooltip);
        }
    }
    let figure_title = "Time against loss";
    let text = text.join(". ") + ".";
    Some(Figure {
        id: "time".into(),
        title: figure_title.into(),
        caption: "Across: seconds for a data set (all folds, geometric mean over data sets, \
                  logarithmic). Up: mean loss over data sets; each plot has its own scale."
            .into(),
        drawing,
        text,
    })
}

/// The geometric mean over data sets of the seconds of all folds.
fn mean_seconds(results: &Results, method: usize) -> Option<f64> {
    let by_set = results.seconds(method);
    let logs: Vec<f64> = by_set.iter().flatten().filter(|&&s| s > 0.0).map(|s| s.ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn power_of_ten(power: i32) -> String {
    match power {
        -3..=3 => format!("{}", 10f64.powi(power)),
        _ => format!("1e{power}"),
    }
}
