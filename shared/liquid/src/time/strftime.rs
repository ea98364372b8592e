//! Times in the directives of Ruby's `strftime`.

use std::fmt::Write;

use jiff::Zoned;

use super::DateNames;

/// A time as a format shows it, with the names of a language. Directives that do not exist are left as they are.
pub fn format(time: &Zoned, format: &str, names: &DateNames) -> String {
    let mut out = String::with_capacity(format.len().saturating_mul(2));
    let mut rest = format;
    while let Some((text, directive)) = rest.split_once('%') {
        out.push_str(text);
        if let Some((directive, after)) = Directive::read(directive) {
            rest = after;
            directive.push(time, names, &mut out);
        } else {
            out.push('%');
            rest = directive;
        }
    }
    out.push_str(rest);
    out
}

/// No field is wider.
const WIDEST: usize = 100;

/// `%-d`, `%^B`, `%3N`, `%::z`.
#[derive(Default)]
struct Directive<'f> {
    source: &'f str,
    name: char,
    pad: Option<Pad>,
    width: Option<usize>,
    upper: bool,
    swap: bool,
    colons: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pad {
    None,
    Zero,
    Space,
}

impl<'f> Directive<'f> {
    fn read(text: &'f str) -> Option<(Self, &'f str)> {
        let mut directive = Self::default();
        let mut rest = text;
        loop {
            let mut chars = rest.chars();
            let c = chars.next()?;
            match c {
                '-' => directive.pad = Some(Pad::None),
                '0' => directive.pad = Some(Pad::Zero),
                '_' => directive.pad = Some(Pad::Space),
                '^' => directive.upper = true,
                '#' => directive.swap = true,
                ':' => directive.colons = directive.colons.saturating_add(1),
                'E' | 'O' => {}
                '1'..='9' => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let (width, after) = rest.split_at_checked(digits)?;
                    directive.width = Some(width.parse().unwrap_or(WIDEST).min(WIDEST));
                    rest = after;
                    continue;
                }
                name => {
                    directive.name = name;
                    rest = chars.as_str();
                    let length = text.len().saturating_sub(rest.len());
                    directive.source = text.get(..length).unwrap_or(text);
                    return Some((directive, rest));
                }
            }
            rest = chars.as_str();
        }
    }

    fn push(&self, time: &Zoned, names: &DateNames, out: &mut String) {
        if let Some((number, width, pad)) = number(time, self.name) {
            self.push_number(number, width, pad, out);
        } else if let Some(text) = self.text(time, names) {
            self.push_text(&text, out);
        } else {
            out.push('%');
            out.push_str(self.source);
        }
    }

    fn push_number(&self, number: i64, width: usize, pad: Pad, out: &mut String) {
        let width = self.width.unwrap_or(width);
        // Writing to a string does not fail.
        let _ = match self.pad.unwrap_or(pad) {
            Pad::None => write!(out, "{number}"),
            Pad::Zero => write!(out, "{number:0width$}"),
            Pad::Space => write!(out, "{number:width$}"),
        };
    }

    fn push_text(&self, text: &str, out: &mut String) {
        let text = match (self.upper, self.swap, self.name) {
            (_, true, 'p') => text.to_lowercase(),
            (true, ..) | (_, true, _) => text.to_uppercase(),
            _ => text.to_owned(),
        };
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        let fill = if self.pad == Some(Pad::Zero) { '0' } else { ' ' };
        out.extend(std::iter::repeat_n(fill, missing));
        out.push_str(&text);
    }

    fn text(&self, time: &Zoned, names: &DateNames) -> Option<String> {
        let composed = |inner: &str| Some(format(time, inner, names));
        let month = || i64::from(time.month()).checked_sub(1);
        match self.name {
            'B' => named(names.months, month()?),
            'b' | 'h' => named(names.short_months, month()?),
            'A' => named(names.weekdays, weekday(time)),
            'a' => named(names.short_weekdays, weekday(time)),
            'p' => Some(if time.hour() < 12 { "AM" } else { "PM" }.into()),
            'P' => Some(if time.hour() < 12 { "am" } else { "pm" }.into()),
            'L' => Some(self.fraction(time, 3)),
            'N' => Some(self.fraction(time, 9)),
            'z' => Some(self.offset(time)),
            'Z' => Some(abbreviation(time)),
            'n' => Some("\n".into()),
            't' => Some("\t".into()),
            '%' => Some("%".into()),
            'c' => composed("%a %b %e %H:%M:%S %Y"),
            'D' | 'x' => composed("%m/%d/%y"),
            'F' => composed("%Y-%m-%d"),
            'v' => composed("%e-%^b-%Y"),
            'r' => composed("%I:%M:%S %p"),
            'R' => composed("%H:%M"),
            'T' | 'X' => composed("%H:%M:%S"),
            '+' => composed("%a %b %e %H:%M:%S %Z %Y"),
            _ => None,
        }
    }

    /// The digits of the second after the point: as many as the width.
    fn fraction(&self, time: &Zoned, digits: usize) -> String {
        let digits = self.width.unwrap_or(digits);
        let nanosecond = format!("{:09}", time.subsec_nanosecond());
        nanosecond.chars().chain(std::iter::repeat('0')).take(digits).collect()
    }

    fn offset(&self, time: &Zoned) -> String {
        let seconds = time.offset().seconds();
        let sign = if seconds < 0 { '-' } else { '+' };
        let seconds = seconds.unsigned_abs();
        let (minutes, second) = (seconds.div_euclid(60), seconds.rem_euclid(60));
        let (hour, minute) = (minutes.div_euclid(60), minutes.rem_euclid(60));
        match self.colons {
            0 => format!("{sign}{hour:02}{minute:02}"),
            1 => format!("{sign}{hour:02}:{minute:02}"),
            _ => format!("{sign}{hour:02}:{minute:02}:{second:02}"),
        }
    }
}

fn named(names: &[&str], place: i64) -> Option<String> {
    names.get(usize::try_from(place).ok()?).map(|name| (*name).to_owned())
}

fn weekday(time: &Zoned) -> i64 {
    time.weekday().to_sunday_zero_offset().into()
}

fn abbreviation(time: &Zoned) -> String {
    let zone = time.time_zone();
    let name = zone.to_offset_info(time.timestamp()).abbreviation().to_owned();
    // Ruby has no name for a bare offset.
    if name.starts_with(['+', '-']) { String::new() } else { name }
}

/// The number of a directive, its width and its padding.
fn number(time: &Zoned, name: char) -> Option<(i64, usize, Pad)> {
    let zero = |number: i64, width: usize| Some((number, width, Pad::Zero));
    let space = |number: i64, width: usize| Some((number, width, Pad::Space));
    let year = i64::from(time.year());
    let hour = i64::from(time.hour());
    let hour12 = match hour.rem_euclid(12) {
        0 => 12,
        hour => hour,
    };
    let week = time.date().iso_week_date();
    match name {
        'Y' => zero(year, if year < 0 { 5 } else { 4 }),
        'C' => zero(year.div_euclid(100), 2),
        'y' => zero(year.rem_euclid(100), 2),
        'm' => zero(time.month().into(), 2),
        'd' => zero(time.day().into(), 2),
        'e' => space(time.day().into(), 2),
        'j' => zero(time.day_of_year().into(), 3),
        'H' => zero(hour, 2),
        'k' => space(hour, 2),
        'I' => zero(hour12, 2),
        'l' => space(hour12, 2),
        'M' => zero(time.minute().into(), 2),
        'S' => zero(time.second().into(), 2),
        's' => zero(time.timestamp().as_second(), 1),
        'u' => zero(time.weekday().to_monday_one_offset().into(), 1),
        'w' => zero(weekday(time), 1),
        'G' => zero(week.year().into(), 4),
        'g' => zero(i64::from(week.year()).rem_euclid(100), 2),
        'V' => zero(week.week().into(), 2),
        'U' => zero(week_of_year(time, weekday(time)), 2),
        'W' => zero(week_of_year(time, time.weekday().to_monday_zero_offset().into()), 2),
        _ => None,
    }
}

/// The week, of which the first begins on the first day of that name in the year.
fn week_of_year(time: &Zoned, days_into_week: i64) -> i64 {
    i64::from(time.day_of_year()).saturating_add(6).saturating_sub(days_into_week).div_euclid(7)
}
