//! The table, as Markdown.

use std::time::Duration;

use super::Measured;

/// Prints its head.
pub(super) fn head() {
    println!(
        "| function | ready, ms | first answer, ms | of the SDKs' | CPU of both, ms | CPU of a refusal, µs | \
         CPU of a read, µs | its calls: CPU beside them, µs | memory, MB | binary, MB | zip, MiB |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    );
}

/// Prints the last row of these, each figure with how often it is that of the barest function.
pub(super) fn last(all: &[Measured]) {
    let named = |name: &str| all.iter().find(|measured| measured.name == name);
    let (hello, sdks) = (named("hello"), named("sdks"));
    let Some(it) = all.last() else { return };
    let times = |of: fn(&Measured) -> u64, base: Option<&Measured>| {
        let (this, base) = (of(it), base.map(of).filter(|base| *base > 0)?);
        Some(tenths(this * 10 / base))
    };
    let cell = |text: String, of: fn(&Measured) -> u64| match times(of, hello) {
        Some(times) => format!("{text} · {times}"),
        None => text,
    };
    // What one costs: `sdks` makes two where `hello` makes none.
    let call = hello.zip(sdks).map(|(hello, sdks)| sdks.cpu.saturating_sub(hello.cpu) / 2);
    let beside = |(call, trips): (Duration, u32)| {
        format!("{trips}: {}", micros(it.cpu.saturating_sub(call * trips)))
    };
    let answered: fn(&Measured) -> u64 = |it| nanos(it.ready + it.first);
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        it.name,
        cell(millis(it.ready), |it| nanos(it.ready)),
        cell(millis(it.ready + it.first), answered),
        times(answered, sdks).unwrap_or_default(),
        cell(millis(it.cold_cpu), |it| nanos(it.cold_cpu)),
        it.refused_cpu.map(micros).unwrap_or_default(),
        cell(micros(it.cpu), |it| nanos(it.cpu)),
        call.zip(it.trips).map(beside).unwrap_or_default(),
        cell(tenths(it.memory / 100_000), |it| it.memory),
        cell(tenths(bytes(it.binary) / 100_000), |it| bytes(it.binary)),
        cell(tenths((bytes(it.archive) * 10) >> 20), |it| bytes(it.archive)),
    );
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> String {
    duration.as_micros().to_string()
}

/// With one digit after the point.
fn millis(duration: Duration) -> String {
    tenths(nanos(duration) / 100_000)
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
