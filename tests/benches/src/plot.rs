//! Plots of latency against load, as small SVG files.

use std::fmt::Write as _;

use crate::load::{Measured, millis};

const WIDTH: u64 = 640;
const HEIGHT: u64 = 320;
const LEFT: u64 = 56;
const RIGHT: u64 = 16;
const TOP: u64 = 32;
const BOTTOM: u64 = 44;
/// The number of steps of each axis.
const STEPS: u64 = 4;

/// Draws the 50th and the 99th percentile of each measurement against its rate.
pub fn draw(title: &str, load: &str, points: &[(u64, Measured)]) -> String {
    let most_load = points.iter().map(|(rate, _)| *rate).max().unwrap_or(0);
    let slowest = points.iter().map(|(_, measured)| measured.percentile(99)).max().unwrap_or(0);
    let (most_load, slowest) = (rounded_up(most_load), rounded_up(slowest));
    let x = |rate: u64| LEFT + rate * (WIDTH - LEFT - RIGHT) / most_load;
    let y = |micros: u64| HEIGHT - BOTTOM - micros * (HEIGHT - TOP - BOTTOM) / slowest;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#444\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{title}</text>\n"
    );
    let right = WIDTH - RIGHT;
    let bottom = HEIGHT - BOTTOM;
    for step in 0..=STEPS {
        let (micros, rate) = (slowest * step / STEPS, most_load * step / STEPS);
        let (across, down) = (y(micros), x(rate));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {across}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} ms</text>\
             <text x=\"{down}\" y=\"{}\" text-anchor=\"middle\">{rate}</text>",
            LEFT - 6,
            across + 4,
            millis(micros),
            bottom + 16,
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{load}</text>",
        LEFT.midpoint(right),
        HEIGHT - 8,
    );
    for (hundredth, colour) in [(50, "#2a6f97"), (99, "#c1462f")] {
        let at = |(rate, measured): &(u64, Measured)| {
            format!("{},{}", x(*rate), y(measured.percentile(hundredth)))
        };
        let line: Vec<String> = points.iter().map(at).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"20\" text-anchor=\"end\" fill=\"{colour}\">p{hundredth}</text>",
            line.join(" "),
            if hundredth == 50 { right - 36 } else { right },
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The next of 1, 2, 4 or 8 times a power of ten, so that the axis has short labels.
fn rounded_up(number: u64) -> u64 {
    let mut power = 1;
    loop {
        for times in [1, 2, 4, 8] {
            if power * times >= number {
                return power * times;
            }
        }
        power *= 10;
    }
}
