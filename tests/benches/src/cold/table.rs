//! The Markdown table of functions.

use std::time::Duration;

use super::{Alongside, HELLO, Measured};

/// Prints the head of the table.
pub(super) fn head() {
    println!(
        "| function | ready, ms | first answer, ms | of the SDKs' | CPU of both, ms | CPU of a rejection, µs | \
         CPU of a read, µs | its calls: CPU beside them, µs | memory, MB | binary, MB | zip, MiB |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    );
}

/// Prints the last row, each figure with its ratio to that of `hello`.
pub(super) fn last(all: &[Measured]) {
    let hello = all.iter().find(|measured| measured.name == HELLO);
    let Some(it) = all.last() else { return };
    let cell = |text: String, of: fn(&Measured) -> u64| match hello {
        Some(hello) => format!("{text} · {}", times(of(it), of(hello))),
        None => text,
    };
    let answered: fn(&Measured) -> u64 = |it| nanos(it.ready + it.first);
    let of_sdks = |alongside: &Alongside| times(answered(it), nanos(alongside.first));
    let bare =
        it.alongside.as_ref().map(|alongside| alongside.bare).or(hello.map(|hello| hello.cpu));
    let alongside_calls = |(alongside, trips): (&Alongside, u32)| {
        format!("{trips}: {}", micros(it.cpu.saturating_sub(alongside.call * trips)))
    };
    println!(
        "| {} | {} | {} | {} | {} | {} | {} · {} | {} | {} | {} | {} |",
        it.name,
        cell(millis(it.ready), |it| nanos(it.ready)),
        cell(millis(it.ready + it.first), answered),
        it.alongside.as_ref().map(of_sdks).unwrap_or_default(),
        cell(millis(it.cold_cpu), |it| nanos(it.cold_cpu)),
        it.rejected_cpu.map(micros).unwrap_or_default(),
        micros(it.cpu),
        times(nanos(it.cpu), nanos(bare.unwrap_or(it.cpu))),
        it.alongside.as_ref().zip(it.trips).map(alongside_calls).unwrap_or_default(),
        cell(tenths(it.memory / 100_000), |it| it.memory),
        cell(tenths(bytes(it.binary) / 100_000), |it| bytes(it.binary)),
        cell(tenths((bytes(it.archive) * 10) >> 20), |it| bytes(it.archive)),
    );
}

/// The ratio of two numbers.
fn times(this: u64, other: u64) -> String {
    tenths(this * 10 / other.max(1))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> String {
    duration.as_micros().to_string()
}

/// Milliseconds with one decimal.
fn millis(duration: Duration) -> String {
    tenths(nanos(duration) / 100_000)
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
