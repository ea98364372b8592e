//! Tests of reading: its memory is bounded, and so is each page.

use std::fmt::Write;

use core_types::fields::Currency;
use core_types::id::StoreId;
use primitives::clock::Timestamp;
use primitives::fields::FromText;

use super::*;
use crate::import::{ImportInput, OnExisting, RunProgress};

/// The most memory that reading may take, in MB, for any file. The function has 512.
const MAX_MEGABYTES: u64 = 128;

/// The peak memory of the process so far, in MB, as Linux counts it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1_024)
}

/// A file of repeated parts, which arrives in chunks as from the table.
#[derive(Clone)]
struct Repeated {
    parts: Vec<(Vec<u8>, usize)>,
    /// The whole file.
    all: Vec<(Vec<u8>, usize)>,
    size: usize,
}

impl Repeated {
    fn of(parts: &[(&str, usize)]) -> Self {
        let part = |(text, count): &(&str, usize)| (text.as_bytes().to_vec(), *count);
        let all: Vec<(Vec<u8>, usize)> = parts.iter().map(part).collect();
        Self { parts: all.clone(), all, size: 1_400_000 }
    }
}

impl ByteSource for Repeated {
    async fn next(&mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while bytes.len() < self.size {
            let Some((text, count)) = self.parts.first_mut() else { break };
            bytes.extend_from_slice(text);
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.parts.remove(0);
            }
        }
        Ok(bytes)
    }

    fn at(&self, byte: u64) -> Self {
        let repeated = self.all.iter().flat_map(|(part, count)| part.repeat(*count));
        let rest: Vec<u8> = repeated.skip(usize::try_from(byte).unwrap()).collect();
        Self { parts: vec![(rest, 1)], ..self.clone() }
    }
}

fn import(kind: ImportKind, format: FileFormat) -> Import {
    let input = ImportInput { kind, format, dry_run: false, on_existing: OnExisting::Fail };
    let now = Timestamp::from_millis(0);
    let import = Import::new(input, &StoreId::derive(&[]), "mer_", now);
    Import { progress: RunProgress::begin(), ..import }
}

fn cell_settings() -> CellSettings {
    let currency = Currency::from_text("EUR").unwrap();
    CellSettings { currency, today: "2026-07-01".to_owned() }
}

/// The result of reading a file: the numbers of records and pages, and the findings.
#[derive(Debug, Default)]
struct Sum {
    records: usize,
    pages: usize,
    findings: Vec<(u64, String)>,
}

async fn read_as(kind: ImportKind, format: FileFormat, source: Repeated) -> Sum {
    let settings = cell_settings();
    let mut sheet = Sheet::of(&import(kind, format), source);
    let mut sum = Sum::default();
    loop {
        let (records, is_last) = match sheet.page(&settings).await.unwrap() {
            ReadOutcome::Page(page) => (page.records, page.is_last),
            ReadOutcome::Unreadable(findings) => {
                sum.findings.extend(findings.into_iter().map(|it| (it.row, it.code)));
                return sum;
            }
        };
        sum.pages = sum.pages.saturating_add(1);
        sum.records = sum.records.saturating_add(records.len());
        let findings = records.iter().flat_map(|record| &record.findings);
        sum.findings.extend(findings.map(|it| (it.row, it.code.clone())).take(10));
        if is_last {
            return sum;
        }
    }
}

async fn read(source: Repeated) -> Sum {
    read_as(ImportKind::Products, FileFormat::Csv, source).await
}

fn at(row: u64, code: &str) -> (u64, String) {
    (row, code.to_owned())
}

/// The name of a case, its kind and format, and the parts of its file.
type Case<'a> = (&'a str, ImportKind, FileFormat, Vec<(&'a str, usize)>);

#[tokio::test]
async fn memory_is_bounded_for_any_file() {
    const LARGE: usize = 50_000_000;
    let csv = FileFormat::Csv;
    let wide: String = (0..499).fold("Title".to_owned(), |mut header, number| {
        let _ = write!(header, ",c{number}");
        header
    }) + "\n";
    let cells = format!("{}\n", ",".repeat(499));
    let (kind, lines) = (ImportKind::Products, FileFormat::Jsonl);
    let cases: [Case<'_>; 12] = [
        ("a cell", kind, csv, vec![("Handle,Title\na,", 1), ("x", LARGE), ("\nb,B\n", 1)]),
        ("commas", kind, csv, vec![("Handle,Title\na,", 1), (",", LARGE), ("\nb,B\n", 1)]),
        ("quotes", kind, csv, vec![("Handle,Title\na,\"", 1), ("\"\"", LARGE / 2)]),
        ("a header", kind, csv, vec![("x", LARGE)]),
        ("names", kind, csv, vec![("x,", LARGE / 2)]),
        ("blank lines", kind, csv, vec![("Title\n", 1), ("\n", LARGE), ("a\n", 1)]),
        ("one product", kind, csv, vec![("Handle,Title\n", 1), ("a,A\n", 90_000)]),
        ("wide rows", kind, csv, vec![(wide.as_str(), 1), (cells.as_str(), 100_000)]),
        ("a line", kind, lines, vec![("x", LARGE), ("\n{}\n", 1)]),
        ("large lines", kind, lines, vec![("{\"title\":\"", 1), ("x", 1_000_000), ("\"}\n", 1)]),
        ("arrays", kind, lines, vec![("{\"title\":[", 1), ("[],", 330_000), ("1]}\n", 1)]),
        ("empty lines", kind, lines, vec![("\n", LARGE)]),
    ];
    let before = peak_memory().unwrap_or(0);
    for (name, kind, format, parts) in cases {
        let sum = read_as(kind, format, Repeated::of(&parts)).await;
        let taken = peak_memory().unwrap_or(0).saturating_sub(before);
        assert!(taken < MAX_MEGABYTES, "{name}: {taken} MB, {sum:?}");
        println!("{name}: {taken} MB, {sum:?}");
    }
}

#[tokio::test]
async fn a_stored_header_fits_into_the_imports_item() {
    let known = "Continue selling when out of stock,".repeat(250);
    let unknown = format!("{}\u{1f375},", "\u{1f375}".repeat(900)).repeat(249);
    let header = format!("{known}{unknown}Title\n");
    let source = Repeated::of(&[(header.as_str(), 1), ("a\n", 1)]);
    let mut sheet = Sheet::of(&import(ImportKind::Products, FileFormat::Csv), source);
    let settings = cell_settings();
    let ReadOutcome::Page(page) = sheet.page(&settings).await.unwrap() else { panic!("no header") };
    let (ignored, count) = page.ignored.unwrap();
    assert_eq!((ignored.len(), count), (100, 249));
    let kept = serde_json::to_vec(&(page.place, ignored)).unwrap();
    assert!(kept.len() < 80_000, "{}", kept.len());
}

#[tokio::test]
async fn a_row_that_is_too_large_is_reported_and_the_others_are_read() {
    let parts = [("Handle,Price,Title\na,1,A\nb,1,", 1), ("x", 2_000_000), ("\nc,1,C\n", 1)];
    let sum = read(Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (3, vec![at(3, "row_too_large")]));
    let parts = [("Title,Price\nA,1\nB", 1), (",", 2_000), ("\nC,1\nD,1,more\nE,1,,\n", 1)];
    let sum = read(Repeated::of(&parts)).await;
    let expected = vec![at(3, "too_many_cells"), at(5, "too_many_cells")];
    assert_eq!((sum.records, sum.findings), (5, expected));
    let parts = [("x,", 600), ("\n", 1)];
    assert_eq!(read(Repeated::of(&parts)).await.findings, [at(1, "too_many_columns")]);
    let parts = [("{}\n", 1), ("x", 2_000_000), ("\n{}", 1)];
    let sum = read_as(ImportKind::Customers, FileFormat::Jsonl, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (3, vec![at(2, "row_too_large")]));
}

#[tokio::test]
async fn a_product_of_too_many_rows_is_one_failed_record() {
    let parts = [("Handle,Title\n", 1), ("a,A\n", 1_500), ("b,B\n", 1)];
    let sum = read(Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (2, vec![at(1_501, "record_too_large")]));
    let row = format!("a,{}\n", "x".repeat(100_000));
    let parts = [("Handle,Title\n", 1), (row.as_str(), 20), ("b,B\n", 1)];
    let sum = read(Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (2, vec![at(21, "record_too_large")]));
}

#[tokio::test]
async fn a_page_is_limited_in_records_cells_and_bytes() {
    let parts = [("Handle,Title\n", 1), ("a,A\nb,B\n", 100)];
    assert_eq!(read(Repeated::of(&parts)).await.pages, 1 + 2 + 1);
    let header: String = (0..400).fold("Title".to_owned(), |mut header, number| {
        let _ = write!(header, ",c{number}");
        header
    }) + "\n";
    let cells = format!("a{}\n", ",".repeat(400));
    let parts = [(header.as_str(), 1), (cells.as_str(), 1_000)];
    let sum = read_as(ImportKind::Inventory, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!(sum.findings, [at(1, "missing_column"), at(1, "missing_column")]);
    let header = header.replace("Title", "Email");
    let cells = format!("a{}\n", ",".repeat(400));
    let parts = [(header.as_str(), 1), (cells.as_str(), 1_000)];
    let sum = read_as(ImportKind::Customers, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.pages), (1_000, 1 + 10 + 1));
    let line = format!("{{\"title\":\"{}\"}}\n", "x".repeat(300_000));
    let parts = [(line.as_str(), 9)];
    let sum = read_as(ImportKind::Products, FileFormat::Jsonl, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.pages), (9, 3));
}

#[tokio::test]
async fn a_file_has_at_most_a_hundred_thousand_rows() {
    let parts = [("Email\n", 1), ("a\n", 100_000)];
    let sum = read_as(ImportKind::Customers, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings.len()), (100_000, 0));
    let parts = [("Email\n", 1), ("a\n", 100_050)];
    let sum = read_as(ImportKind::Customers, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (100_000, vec![at(100_002, "too_many_rows")]));
}

#[tokio::test]
async fn a_file_is_read_the_same_for_any_size_of_its_pieces() {
    let text = "\u{feff}Handle;Title\r\na;\"A;\"\"1\"\"\nx\"\r\n\r\nb;B \u{1f375}\r\nb;\r\nc;C";
    let mut all = Vec::new();
    for size in [1, 2, 3, 7, 1_000] {
        let parts: Vec<(Vec<u8>, usize)> = text.bytes().map(|byte| (vec![byte], 1)).collect();
        let source = Repeated { all: parts.clone(), parts, size };
        let settings = cell_settings();
        let mut sheet = Sheet::of(&import(ImportKind::Products, FileFormat::Csv), source);
        let ReadOutcome::Page(_) = sheet.page(&settings).await.unwrap() else {
            panic!("no header")
        };
        let ReadOutcome::Page(page) = sheet.page(&settings).await.unwrap() else {
            panic!("no rows")
        };
        assert!(page.is_last);
        let titles = page.records.iter().map(|it| it.body["title"].clone()).collect::<Vec<_>>();
        assert_eq!(titles, ["A;\"1\"\nx", "B \u{1f375}", "C"], "{size}");
        let rows: Vec<u64> = page.records.iter().map(|it| it.row).collect();
        all.push(rows);
    }
    assert!(all.iter().all(|rows| *rows == [2, 4, 6]), "{all:?}");
}

/// The rows of the records of a file, and its findings.
async fn rows_of(text: &str) -> (Vec<u64>, Vec<(u64, String)>) {
    let settings = cell_settings();
    let source = Repeated::of(&[(text, 1)]);
    let mut sheet = Sheet::of(&import(ImportKind::Customers, FileFormat::Csv), source);
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    loop {
        let page = match sheet.page(&settings).await.unwrap() {
            ReadOutcome::Page(page) => page,
            ReadOutcome::Unreadable(findings) => {
                found.extend(findings.into_iter().map(|it| (it.row, it.code)));
                return (rows, found);
            }
        };
        rows.extend(page.records.iter().map(|record| record.row));
        let findings = page.records.iter().flat_map(|record| &record.findings);
        found.extend(findings.map(|it| (it.row, it.code.clone())));
        if page.is_last {
            return (rows, found);
        }
    }
}

#[tokio::test]
async fn rows_are_counted_as_a_spreadsheet_shows_them() {
    for (text, expected) in [
        ("Email,Note\na@b.co,\n\nc@d.co,\n", vec![2, 4]),
        ("Email,Note\r\na@b.co,\r\n\r\n\r\nc@d.co,\r\n", vec![2, 5]),
        ("Email,Note\ra@b.co,\r\rc@d.co,\r", vec![2, 4]),
        ("\n\nEmail,Note\n,\n , \na@b.co,\"x\n\ny\"\nc@d.co,", vec![6, 7]),
        ("\u{feff}sep=;\r\nEmail;Note\r\na@b.co;x, y\r\n", vec![3]),
        ("\"sep=\t\"\nEmail\tNote\na@b.co\tx\n", vec![3]),
    ] {
        assert_eq!(rows_of(text).await, (expected, vec![]), "{text:?}");
    }
}

#[tokio::test]
async fn blank_rows_cost_nothing() {
    let parts = [("Email,Note\n", 1), (",\n", 200_000), ("\n", 200_000), ("a@b.co,\n", 100_000)];
    let sum = read_as(ImportKind::Customers, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.findings), (100_000, vec![]));
}

#[tokio::test]
async fn a_quote_that_is_not_closed_is_an_error_of_its_row() {
    for (text, expected) in [
        ("Email,Note\na@b.co,\"12 in\nc@d.co,\n", vec![(2, "unclosed_quote")]),
        ("Email,Note\na@b.co,\"12 in\nc@d.co,\"x\"\n", vec![(2, "misplaced_quote")]),
        ("Email,\"Note\na@b.co,x\n", vec![(1, "unclosed_quote")]),
        ("Email,Note\na@b.co,12\" pipe\n", vec![]),
    ] {
        let expected: Vec<(u64, String)> = expected.into_iter().map(|it| at(it.0, it.1)).collect();
        assert_eq!(rows_of(text).await.1, expected, "{text:?}");
    }
    let parts = [("Email,Note\na@b.co,\"", 1), ("x", 2_000_000), ("\nc@d.co,\n", 1)];
    let sum = read_as(ImportKind::Customers, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!(sum.findings, [at(2, "unclosed_quote")]);
}

#[tokio::test]
async fn reading_resumes_after_any_row_with_the_same_numbers() {
    let text = "Email,Note\r\na@b.co,\r\n\r\n,\r\nc@d.co,x\r\n\r\ne@f.co,\r\n";
    let settings = cell_settings();
    let mut whole = import(ImportKind::Customers, FileFormat::Csv);
    let mut sheet = Sheet::of(&whole, Repeated::of(&[(text, 1)]));
    let ReadOutcome::Page(page) = sheet.page(&settings).await.unwrap() else { panic!("no header") };
    whole.progress.place = page.place;
    let mut rows = Vec::new();
    // One row at a time, each by a reader that begins there.
    for _ in 0..3 {
        let rest = text.get(usize::try_from(whole.progress.place.byte).unwrap()..).unwrap();
        let mut sheet = Sheet::of(&whole, Repeated::of(&[(rest, 1)]));
        let read = sheet.record().await.unwrap();
        let last = read.last().unwrap();
        rows.push(last.number);
        sheet.go_on_after(last);
        whole.progress.place = sheet.place;
    }
    assert_eq!(rows, [2, 5, 7]);
    assert_eq!(whole.progress.place.blank, Some(3));
}

#[tokio::test]
async fn variations_find_their_product_anywhere_above_them() {
    let text = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)\r\n\
                7,variable,,\"Tee, plain\",,,Size,\"S, M\"\r\n\
                8,simple,CUP,Cup,3,,,\r\n\r\n\
                9,variation,TEE-S,Tee - S,5,id:7,Size,S\r\n\
                10,variation,X,X,5,id:70,Size,S\r\n\
                11,variation,TEE-M,Tee - M,6,id:7,Size,M\r\n\
                12,variable,HAT,Hat,,,Size,S\r\n";
    let settings = cell_settings();
    let source = Repeated::of(&[(text, 1)]);
    let mut sheet = Sheet::of(&import(ImportKind::Products, FileFormat::Csv), source);
    let ReadOutcome::Page(_) = sheet.page(&settings).await.unwrap() else { panic!("no header") };
    let ReadOutcome::Page(page) = sheet.page(&settings).await.unwrap() else { panic!("no rows") };
    let told: Vec<(u64, u64, &str, Option<&str>)> = page
        .records
        .iter()
        .map(|it| {
            let finding = it.findings.iter().find(|finding| finding.is_error()).map(|it| &*it.code);
            (it.row, it.order(), it.body["title"].as_str().unwrap_or_default(), finding)
        })
        .collect();
    let expected = [
        (3, 3, "Cup", None),
        (2, 5, "Tee, plain", None),
        (6, 6, "", Some("parent_missing")),
        (2, 7, "Tee, plain", None),
        (8, 8, "", Some("variations_missing")),
    ];
    assert_eq!(told, expected);
    assert_eq!(page.records[1].body["variants"][0]["sku"], "TEE-S");
    assert!(page.is_last);
}

#[tokio::test]
async fn the_columns_of_locations_are_restored_after_an_interruption() {
    let text = "Handle,Title,Option1 Name,Option1 Value,SKU,COO,Main,Gone,Yard\n\
                tee,Tee,Title,Default Title,T,PT,1,2,3\ncup,Cup,Title,Default Title,C,,not stocked,,4\n";
    let mut whole = import(ImportKind::Inventory, FileFormat::Csv);
    let settings = cell_settings();
    let mut sheet = Sheet::of(&whole, Repeated::of(&[(text, 1)]));
    let ReadOutcome::Page(mut page) = sheet.page(&settings).await.unwrap() else {
        panic!("no header")
    };
    assert_eq!(page.locations, ["Main", "Gone", "Yard"]);
    sheet.leave_out(&["Gone".to_owned()], &mut page);
    let source = Repeated::of(&[(text, 1)]).at(page.place.byte);
    whole.progress.place = page.place;
    let mut resumed = Sheet::of(&whole, source);
    for sheet in [&mut sheet, &mut resumed] {
        let ReadOutcome::Page(page) = sheet.page(&settings).await.unwrap() else {
            panic!("no rows")
        };
        let told = page.records.iter().map(|it| {
            let place = it.body["location"].as_str().unwrap();
            (it.row, it.number, place, it.body["available"].as_i64().unwrap())
        });
        let expected = [(2, 0, "Main", 1), (2, 1, "Yard", 3), (3, 0, "Yard", 4)];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
    // The quantities of a row are at most one page, and a page has few more than its limit.
    let header: String =
        (0..400).fold("Handle,Title,Option1 Name,SKU".to_owned(), |mut all, number| {
            let _ = write!(all, ",Place {number}");
            all
        }) + "\n";
    let row = format!("tee,Tee,Title,T{}\n", ",1".repeat(400));
    let parts = [(header.as_str(), 1), (row.as_str(), 30)];
    let sum = read_as(ImportKind::Inventory, FileFormat::Csv, Repeated::of(&parts)).await;
    assert_eq!((sum.records, sum.pages), (12_000, 1 + 30 + 1));
}
