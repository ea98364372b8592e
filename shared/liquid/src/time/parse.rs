//! What texts and numbers mean as times.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::DateNames;
use super::scan::{Part, scan};
use crate::value::Value;

/// The time that a value is: seconds since 1970, `now`, `today`, or a date as people and machines write
/// them. What a date does not say is taken from now, or is the first.
pub fn parse(value: &Value, now: &Zoned) -> Option<Zoned> {
    match &*value.resolved() {
        Value::Int(seconds) => at_second(*seconds, now),
        Value::Str(text) | Value::Html(text) => of_text(text, now),
        _ => None,
    }
}

fn at_second(second: i64, now: &Zoned) -> Option<Zoned> {
    Some(Timestamp::from_second(second).ok()?.to_zoned(now.time_zone().clone()))
}

fn of_text(text: &str, now: &Zoned) -> Option<Zoned> {
    let text = text.trim().to_lowercase();
    if text == "now" || text == "today" {
        return Some(now.clone());
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return at_second(text.parse().ok()?, now);
    }
    let parts = scan(&text)?;
    let mut reader = Reader { rest: &parts, ..Reader::default() };
    reader.read()?;
    let date = reader.date(now)?;
    let time = reader.time.unwrap_or_default();
    let zone = reader.zone.map_or_else(|| now.time_zone().clone(), fixed);
    DateTime::from_parts(date, time).to_zoned(zone).ok()
}

fn fixed(offset: Offset) -> TimeZone {
    if offset == Offset::UTC { TimeZone::UTC } else { TimeZone::fixed(offset) }
}

#[derive(Default)]
struct Reader<'t> {
    rest: &'t [Part<'t>],
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    time: Option<Time>,
    zone: Option<Offset>,
}

impl<'t> Reader<'t> {
    fn at(&self, place: usize) -> Option<Part<'t>> {
        self.rest.get(place).copied()
    }

    /// Reads what is at the begin until nothing is left.
    fn read(&mut self) -> Option<()> {
        while !self.rest.is_empty() {
            let taken = self.take_clock().or_else(|| self.take_date()).or_else(|| self.take_zone());
            let taken = taken.or_else(|| self.take_word())?;
            self.rest = self.rest.get(taken..).unwrap_or_default();
        }
        let known = self.year.or(self.month).or(self.day).is_some() || self.time.is_some();
        known.then_some(())
    }

    /// `10:30`, `10:30:15.5`, `10:30 pm`, `10pm`.
    fn take_clock(&mut self) -> Option<usize> {
        let mut hour = self.at(0)?.number()?;
        let mut numbers = [0, 0];
        let mut taken = 1;
        for number in &mut numbers {
            if self.at(taken) != Some(Part::Symbol(':')) {
                break;
            }
            *number = self.at(taken.checked_add(1)?)?.number()?;
            taken = taken.checked_add(2)?;
        }
        let [minute, second] = numbers;
        let mut nanosecond = 0;
        if taken == 5 && self.at(5) == Some(Part::Symbol('.')) {
            let Part::Number(digits, _) = self.at(6)? else { return None };
            nanosecond = format!("{digits:0<9}").get(..9)?.parse().ok()?;
            taken = 7;
        }
        match self.at(taken).and_then(Part::word) {
            Some("am" | "a") => {
                hour = if hour == 12 { 0 } else { hour };
                taken = taken.checked_add(1)?;
            }
            Some("pm" | "p") => {
                hour = if hour == 12 { 12 } else { hour.checked_add(12)? };
                taken = taken.checked_add(1)?;
            }
            _ if taken == 1 => return None,
            _ => {}
        }
        let [hour, minute] = [hour, minute].map(|number| i8::try_from(number).ok());
        let second = i8::try_from(second.min(59)).ok()?;
        self.time = Some(Time::new(hour?, minute?, second, nanosecond).ok()?);
        Some(taken)
    }

    fn take_date(&mut self) -> Option<usize> {
        self.take_numeric().or_else(|| self.take_compact()).or_else(|| self.take_written())
    }

    /// `2026-03-14`, `2026/03/14`, `14/03/2026`, `14.03.2026`; the day may be missing.
    fn take_numeric(&mut self) -> Option<usize> {
        let first = self.at(0)?;
        let Part::Symbol(separator @ ('-' | '/' | '.')) = self.at(1)? else { return None };
        let (first, second) = (first, self.at(2)?);
        let third = self.at(4).filter(|_| self.at(3) == Some(Part::Symbol(separator)));
        if let Some(month) = second.word().and_then(month_named) {
            // 14-Mar-2026
            (self.day, self.month, self.year) = (first.number(), Some(month), third?.number());
            return Some(5);
        }
        let (a, b) = (first.number()?, second.number()?);
        let c = third.and_then(Part::number);
        let year_last = first.digits() <= 2 && third.is_some_and(|third| third.digits() > 2);
        (self.year, self.month, self.day) = match c {
            Some(c) if year_last || separator == '.' && first.digits() <= 2 => {
                (Some(c), Some(b), Some(a))
            }
            Some(c) => (Some(century(a, first.digits())), Some(b), Some(c)),
            None if first.digits() > 2 => (Some(a), Some(b), None),
            None => (None, Some(a), Some(b)),
        };
        Some(if c.is_some() { 5 } else { 3 })
    }

    /// `20260314`, perhaps with `t101500`.
    fn take_compact(&mut self) -> Option<usize> {
        let Part::Number(digits, _) = self.at(0)? else { return None };
        let (date, time) = digits.split_at_checked(8)?;
        let time = match (time.len(), self.at(1), self.at(2)) {
            (0, Some(Part::Word("t")), Some(Part::Number(time, _))) if time.len() == 6 => time,
            (0 | 6, ..) => time,
            _ => return None,
        };
        let taken = if time.is_empty() || digits.len() > 8 { 1 } else { 3 };
        let number = |text: &str, from: usize, to: usize| -> Option<i64> {
            text.get(from..to)?.parse().ok()
        };
        let parts = (number(date, 0, 4), number(date, 4, 6), number(date, 6, 8));
        let small = |from: usize, to: usize| time.get(from..to)?.parse::<i8>().ok();
        let clock = match (small(0, 2), small(2, 4), small(4, 6)) {
            (Some(hour), Some(minute), Some(second)) => {
                Some(Time::new(hour, minute, second, 0).ok()?)
            }
            _ => None,
        };
        (self.year, self.month, self.day) = parts;
        self.time = clock.or(self.time);
        Some(taken)
    }

    /// `March 14, 2026`, `14 March 2026`, `14th of March`, `March 2026`, `2026`.
    fn take_written(&mut self) -> Option<usize> {
        match self.at(0)? {
            Part::Word(word) => {
                let month = month_named(word)?;
                let dotted = usize::from(self.at(1) == Some(Part::Symbol('.')));
                self.month = Some(month);
                Some(dotted.saturating_add(1))
            }
            part @ Part::Number(_, number) => {
                let ordinal = self.at(1).and_then(Part::word);
                let ordinal = ordinal.is_some_and(|word| matches!(word, "st" | "nd" | "rd" | "th"));
                if part.digits() <= 2 && self.day.is_none() {
                    self.day = Some(number);
                } else if self.year.is_none() && !ordinal {
                    self.year = Some(century(number, part.digits()));
                } else {
                    return None;
                }
                Some(usize::from(ordinal).saturating_add(1))
            }
            Part::Symbol(_) => None,
        }
    }

    /// `z`, `utc`, `est`, `+02:00`, `-0500`. Only after a time.
    fn take_zone(&mut self) -> Option<usize> {
        self.time?;
        match self.at(0)? {
            Part::Word(word) => {
                self.zone = Some(Offset::from_hours(zone_named(word)?).ok()?);
                Some(1)
            }
            Part::Symbol(sign @ ('+' | '-')) => {
                let Part::Number(digits, number) = self.at(1)? else { return None };
                let (hours, minutes, taken) = match (digits.len(), self.at(2), self.at(3)) {
                    (1 | 2, Some(Part::Symbol(':')), Some(Part::Number(_, minutes))) => {
                        (number, minutes, 4)
                    }
                    (1 | 2, ..) => (number, 0, 2),
                    (4, ..) => (number.checked_div(100)?, number.checked_rem(100)?, 2),
                    _ => return None,
                };
                let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
                let seconds = if sign == '-' { seconds.checked_neg()? } else { seconds };
                self.zone = Some(Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?);
                Some(taken)
            }
            _ => None,
        }
    }

    /// Weekdays, and words and symbols between.
    fn take_word(&mut self) -> Option<usize> {
        match self.at(0)? {
            Part::Word(word)
                if DateNames::ENGLISH.weekdays.iter().any(|weekday| begins(weekday, word)) =>
            {
                Some(1)
            }
            Part::Word("t" | "at" | "of" | "on" | "the")
            | Part::Symbol('-' | '.' | '/' | '(' | ')' | '\'') => Some(1),
            _ => None,
        }
    }

    fn date(&self, now: &Zoned) -> Option<Date> {
        let today = now.date();
        let year = self.year.map_or(Some(today.year()), |year| i16::try_from(year).ok())?;
        let month = match self.month {
            Some(month) => i8::try_from(month).ok()?,
            None if self.year.is_some() => 1,
            None => today.month(),
        };
        let day = match self.day {
            Some(day) => i8::try_from(day).ok()?,
            None if self.year.or(self.month).is_some() => 1,
            None => today.day(),
        };
        Date::new(year, month, day).ok()
    }
}

/// A year of two digits is one from 1969 to 2068.
fn century(year: i64, digits: usize) -> i64 {
    match (digits, year) {
        (1 | 2, 69..) => year.saturating_add(1900),
        (1 | 2, _) => year.saturating_add(2000),
        _ => year,
    }
}

fn month_named(word: &str) -> Option<i64> {
    let word = if word == "sept" { "sep" } else { word };
    let found = DateNames::ENGLISH.months.iter().position(|month| begins(month, word))?;
    i64::try_from(found.saturating_add(1)).ok()
}

/// Whether a word is a name or its first letters.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

fn zone_named(word: &str) -> Option<i8> {
    Some(match word {
        "z" | "utc" | "gmt" => 0,
        "est" | "cdt" => -5,
        "edt" => -4,
        "cst" | "mdt" => -6,
        "mst" | "pdt" => -7,
        "pst" => -8,
        "cet" | "bst" => 1,
        "cest" => 2,
        _ => return None,
    })
}
