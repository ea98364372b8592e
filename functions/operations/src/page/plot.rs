//! Plots as SVG: lines over time with marked moments, and bars against a limit.
//!
//! `plotters` draws them, and writes colours as numbers. Text must follow the reader's light or dark scheme,
//! so [`INK`] is replaced by the current text colour.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use primitives::clock::Timestamp;

/// Width and height of a plot, in SVG units.
const SIZE: (u32, u32) = (720, 260);
/// Height of a bar with its label.
const BAR: u32 = 44;
/// The colour that is replaced by the text colour.
const INK: RGBColor = RGBColor(1, 1, 1);
/// The colours of lines, distinguishable with colour blindness (Okabe and Ito).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
];
/// The colour of marked moments and of values above a limit.
const MARK: RGBColor = RGBColor(213, 94, 0);
/// The label of a mark in the rightmost 1/`EDGE` of the width is written to the left of its line.
const EDGE: i64 = 8;
/// Points are drawn as circles, too, if there are no more than this: one point alone has no line.
const FEW: usize = 40;
/// Height of the legend, and of the middle of its line.
const LEGEND: u32 = 24;
const LEGEND_LINE: i32 = 14;
/// Where the legend begins: above the axis of values.
const AXIS: i32 = 64;
/// Length of a line's sample in the legend, and the width of a letter there.
const SAMPLE: i32 = 16;
const LETTER: i32 = 7;
/// The limit of a bar, in percent.
const ONE_HUNDRED_PERCENT: u64 = 100;

/// A measurement.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The time.
    pub at: Timestamp,
    /// The value, in the plot's unit.
    pub value: u64,
}

/// The measurements of one line, in the order of time.
#[derive(Debug, Clone)]
pub struct Series {
    /// The name of the measured value.
    pub name: String,
    /// The measurements.
    pub points: Vec<Point>,
}

/// A marked moment.
#[derive(Debug, Clone)]
pub struct PlotMark {
    /// The time.
    pub at: Timestamp,
    /// The event, in a word or two.
    pub label: String,
}

/// A measurement as a share of its limit.
#[derive(Debug, Clone)]
pub struct Bar {
    /// The name of the measured value.
    pub label: String,
    /// The share of the limit, in percent.
    pub percent: u64,
}

/// The content of a plot.
#[derive(Debug, Clone)]
pub enum Drawing {
    /// Lines over time.
    Lines {
        /// The unit of the values.
        unit: String,
        /// The lines.
        series: Vec<Series>,
        /// Marked moments.
        marks: Vec<PlotMark>,
    },
    /// Bars against a limit.
    Bars(Vec<Bar>),
}

/// A plot.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The caption, a sentence.
    pub title: String,
    /// The drawing.
    pub drawing: Drawing,
}

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Plot {
    /// Lines over time.
    pub fn lines(title: &str, unit: &str, series: Vec<Series>, marks: Vec<PlotMark>) -> Self {
        let drawing = Drawing::Lines { unit: unit.to_owned(), series, marks };
        Self { title: title.to_owned(), drawing }
    }

    /// Bars against a limit.
    pub fn bars(title: &str, bars: Vec<Bar>) -> Self {
        Self { title: title.to_owned(), drawing: Drawing::Bars(bars) }
    }

    /// Renders the plot as SVG; none if there is nothing to draw.
    pub(super) fn svg(&self) -> Option<String> {
        let (mut svg, height) = (String::new(), self.height()?);
        {
            let area = SVGBackend::with_string(&mut svg, (SIZE.0, height)).into_drawing_area();
            let drawn = match &self.drawing {
                Drawing::Lines { unit, series, marks } => lines(&area, unit, series, marks),
                Drawing::Bars(bars) => draw_bars(&area, bars),
            };
            drawn.and_then(|()| Ok(area.present()?)).ok()?;
        }
        Some(svg.replace("#010101", "currentColor"))
    }

    fn height(&self) -> Option<u32> {
        match &self.drawing {
            Drawing::Lines { series, .. } => {
                series.iter().any(|it| !it.points.is_empty()).then_some(SIZE.1)
            }
            Drawing::Bars(bars) => {
                let count = u32::try_from(bars.len()).ok().filter(|count| *count > 0)?;
                Some(count.saturating_mul(BAR).saturating_add(BAR))
            }
        }
    }
}

/// The ranges of the axes: all points and marks, and some space above.
fn ranges(series: &[Series], marks: &[PlotMark]) -> (Range<i64>, Range<u64>) {
    let points = || series.iter().flat_map(|series| &series.points);
    let times = points().map(|it| it.at).chain(marks.iter().map(|it| it.at));
    let times: Vec<i64> = times.map(Timestamp::millis).collect();
    let first = times.iter().min().copied().unwrap_or_default();
    let last = times.iter().max().copied().unwrap_or_default();
    let highest = points().map(|it| it.value).max().unwrap_or_default();
    let above = highest.saturating_add(highest.div_ceil(5)).max(1);
    (first..last.max(first.saturating_add(1_000)), 0..above)
}

fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn lines(area: &Area<'_>, unit: &str, series: &[Series], marks: &[PlotMark]) -> Drawn {
    let (times, values) = ranges(series, marks);
    let top = values.end;
    let width = times.end.saturating_sub(times.start);
    let edge = times.end.saturating_sub(width.div_euclid(EDGE));
    let (above, area) = area.split_vertically(LEGEND);
    legend(&above, series)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_right(36)
        .x_label_area_size(28)
        .y_label_area_size(54)
        .build_cartesian_2d(times, values)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.15))
        .axis_style(INK.mix(0.5))
        .label_style(text(13))
        .axis_desc_style(text(13))
        .x_labels(6)
        .y_labels(5)
        .x_label_formatter(&|at| time_of_day(*at))
        .y_desc(unit)
        .draw()?;
    for mark in marks {
        let at = mark.at.millis();
        chart.draw_series([PathElement::new([(at, 0), (at, top)], MARK.stroke_width(2))])?;
        // A label near the right edge is written to the left of its line.
        let side = if at > edge { HPos::Right } else { HPos::Left };
        let style = text(13).pos(Pos::new(side, VPos::Top));
        chart.draw_series([Text::new(format!("\u{a0}{}\u{a0}", mark.label), (at, top), style)])?;
    }
    for (line, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let points = line.points.iter().map(|point| (point.at.millis(), point.value));
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        if line.points.len() <= FEW {
            chart.draw_series(points.map(|at| Circle::new(at, 2, colour.filled())))?;
        }
    }
    Ok(())
}

/// Draws the names of the lines side by side, above the plot, where they cover nothing.
fn legend(area: &Area<'_>, series: &[Series]) -> Drawn {
    let mut left = AXIS;
    for (line, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let (middle, right) = (LEGEND_LINE, left.saturating_add(SAMPLE));
        area.draw(&PathElement::new([(left, middle), (right, middle)], colour.stroke_width(3)))?;
        let name = right.saturating_add(6);
        let style = text(13).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(line.name.clone(), (name, middle), style))?;
        let letters = i32::try_from(line.name.chars().count()).unwrap_or_default();
        left = name.saturating_add(letters.saturating_mul(LETTER)).saturating_add(18);
    }
    Ok(())
}

/// Draws bars, cut off at twice the limit; their numbers are not.
fn draw_bars(area: &Area<'_>, bars: &[Bar]) -> Drawn {
    let (left, right) = (10_i32, 700_i32);
    let limit = left.midpoint(right);
    let place = |percent: u64| {
        let length = i64::from(limit.saturating_sub(left));
        let share =
            i64::try_from(percent.min(ONE_HUNDRED_PERCENT.saturating_mul(2))).unwrap_or_default();
        let reached = share.saturating_mul(length).div_euclid(100);
        left.saturating_add(i32::try_from(reached).unwrap_or_default())
    };
    let row = i32::try_from(BAR)?;
    let mut top = 6_i32;
    for bar in bars {
        let colour = if bar.percent > ONE_HUNDRED_PERCENT { MARK } else { COLOURS[2] };
        let label = format!("{}: {} %", bar.label, bar.percent);
        area.draw(&Text::new(label, (left, top), text(14)))?;
        let (upper, lower) = (top.saturating_add(18), top.saturating_add(30));
        area.draw(&Rectangle::new([(left, upper), (right, lower)], INK.mix(0.08).filled()))?;
        let end = place(bar.percent).max(left.saturating_add(2));
        area.draw(&Rectangle::new([(left, upper), (end, lower)], colour.filled()))?;
        top = top.saturating_add(row);
    }
    area.draw(&PathElement::new([(limit, 6), (limit, top)], INK.stroke_width(2)))?;
    area.draw(&Text::new("target", (limit.saturating_add(6), top), text(13)))?;
    Ok(())
}

/// Hours, minutes and seconds in UTC.
fn time_of_day(millis: i64) -> String {
    Timestamp::from_millis(millis).to_string().chars().skip(11).take(8).collect()
}
