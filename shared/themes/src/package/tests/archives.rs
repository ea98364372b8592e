//! Tests of invalid archives, and of valid ones by common writers.

use miniz_oxide::deflate::compress_to_vec;

use super::zip::{Entry, deflated, stored, zip, zip_but};
use super::{and, entries, errors, read, rejected, theme, warnings};
use crate::finding::Code::{self, *};

fn named(name: impl AsRef<[u8]>) -> Vec<u8> {
    and(deflated(name, b"x"))
}

fn changed(change: impl FnOnce(&mut Entry)) -> Vec<u8> {
    and(deflated("assets/a.css", b"a{}").but(change))
}

/// A gibibyte of zeros, deflated to a megabyte.
fn bomb() -> Vec<u8> {
    const MIB: usize = 1 << 20;
    let mut deflater = miniz_oxide::deflate::core::CompressorOxide::new(
        miniz_oxide::deflate::core::create_comp_flags_from_zip_params(6, 0, 0),
    );
    let zeros = vec![0; MIB];
    let mut packed = Vec::new();
    let mut out = vec![0; MIB];
    for mebibyte in 1..=1024 {
        use miniz_oxide::deflate::core::{TDEFLFlush, compress};
        let flush = if mebibyte == 1024 { TDEFLFlush::Finish } else { TDEFLFlush::None };
        let (_, read, written) = compress(&mut deflater, &zeros, &mut out, flush);
        assert_eq!(read, MIB);
        packed.extend(&out[..written]);
    }
    packed
}

#[test]
fn each_invalid_name_has_its_code() {
    rejected(vec![
        ("no name", named(""), &[PathEmpty]),
        ("not UTF-8", named(b"assets/\xff\xfe.css"), &[PathNotUtf8]),
        ("overlong UTF-8", named(b"assets/\xc0\xae\xc0\xae/a.css"), &[PathNotUtf8]),
        ("a root", named("/etc/passwd"), &[PathAbsolute]),
        ("two roots", named("//host/share"), &[PathAbsolute, PathNotNormal]),
        ("a share of Windows", named("\\\\host\\share"), &[PathAbsolute, PathBackslash]),
        ("a drive", named("C:/windows/x"), &[PathDrive]),
        ("a drive's own directory", named("c:x.css"), &[PathDrive]),
        ("up", named("../x.css"), &[PathTraversal]),
        ("up within", named("assets/../../x.css"), &[PathTraversal]),
        ("up at the end", named("assets/.."), &[PathTraversal]),
        ("up, as a directory", and(stored("assets/../", b"")), &[PathTraversal]),
        ("up with backslashes", named("..\\..\\x.css"), &[PathTraversal, PathBackslash]),
        ("up with both", named("assets/..\\x.css"), &[PathTraversal, PathBackslash]),
        ("up, escaped", named("assets/%2e%2E/x.css"), &[PathTraversal, PathCharacter]),
        ("up, all escaped", named("assets%2f..%5cx.css"), &[PathTraversal, PathCharacter]),
        ("up, in wide letters", named("assets/．．/x.css"), &[PathCharacter]),
        ("a dot", named("assets/./x.css"), &[PathNotNormal]),
        ("an empty directory", named("assets//x.css"), &[PathNotNormal]),
        ("a backslash", named("assets\\x.css"), &[PathBackslash]),
        ("a NUL", named("assets/x.css\0.png"), &[PathNul]),
        ("a control character", named("assets/\u{1b}[2J.css"), &[PathControlCharacter]),
        ("a turned name", named("assets/\u{202e}gnp.css"), &[PathCharacter]),
        ("a device", named("assets/CON.css"), &[PathReserved]),
        ("a numbered device", named("assets/lpt1.css"), &[PathReserved]),
        ("a stream", named("assets/x.css:y"), &[PathCharacter]),
        ("a dot at the end", named("assets/x.css."), &[PathReserved]),
        ("a long name", named(format!("assets/{}.css", "x".repeat(200))), &[PathTooLong]),
        ("a deep name", named("assets/a/b/c/d/e/f.css"), &[PathTooLong]),
        ("the same name", named("assets/theme.css"), &[PathDuplicate]),
        ("the same but its case", named("assets/Theme.CSS"), &[PathCaseTwin]),
        ("a directory but its case", named("Assets/x.css"), &[PathCaseTwin]),
        ("below a file", named("assets/theme.css/x.css"), &[PathConflict]),
        ("a directory and a file", and(stored("assets/theme.css/", b"")), &[PathConflict]),
    ]);
}

#[test]
fn each_entry_that_is_not_a_plain_file_has_its_code() {
    let mode = |mode: u32| changed(move |entry| entry.attributes = mode << 16);
    let zip64 = |entry: &mut Entry| entry.extra = b"\x01\0\x08\0\0\0\0\0\0\0\0\0".to_vec();
    rejected(vec![
        ("a symbolic link", mode(0o120_777), &[Symlink]),
        ("a device", mode(0o060_644), &[SpecialFile]),
        ("a pipe", mode(0o010_644), &[SpecialFile]),
        ("a socket", mode(0o140_644), &[SpecialFile]),
        ("encrypted", changed(|entry| entry.flags |= 1), &[EntryEncrypted]),
        ("strongly encrypted", changed(|entry| entry.flags |= 1 | 1 << 6), &[EntryEncrypted]),
        ("masked", changed(|entry| entry.flags |= 1 << 13), &[EntryEncrypted]),
        ("AES", changed(|entry| entry.method = 99), &[EntryEncrypted, CompressionUnsupported]),
        ("LZMA", changed(|entry| entry.method = 14), &[CompressionUnsupported]),
        ("Zstandard", changed(|entry| entry.method = 93), &[CompressionUnsupported]),
        ("a patch", changed(|entry| entry.flags |= 1 << 5), &[CompressionUnsupported]),
        ("another disk", changed(|entry| entry.disk = 1), &[ArchiveMultiDisk]),
        ("the long format", changed(zip64), &[Zip64Rejected]),
        ("a directory with bytes", and(stored("assets/sub/", b"x")), &[DirectoryWithContent]),
        ("an archive", named("assets/x.zip"), &[NestedArchive]),
        ("an archive by another name", and(stored("assets/x.css", &zip(&[]))), &[NestedArchive]),
        ("gzip by another name", and(stored("assets/x.css", b"\x1f\x8b\x08\0")), &[NestedArchive]),
    ]);
}

#[test]
fn each_false_header_has_its_code() {
    let long = || deflated("assets/a.css", &[b'a'; 64]);
    let hidden = || {
        long().but(|entry| {
            entry.packed.extend(b"hidden");
            entry.said_packed += 6;
        })
    };
    let beyond = changed(|entry| entry.offset = Some(0x7fff_0000));
    let twice = {
        let mut all = entries(&theme());
        let same = all[0].clone().but(|entry| {
            entry.name = b"assets/a.css".to_vec();
            entry.local_name = Some(b"assets/a.css".to_vec());
            entry.offset = Some(0);
        });
        all.push(same);
        zip(&all)
    };
    rejected(vec![
        ("shorter than said", and(long().but(|entry| entry.said_size = 70)), &[SizeMismatch]),
        ("longer than said", and(long().but(|entry| entry.said_size = 60)), &[SizeMismatch]),
        ("nothing said", and(long().but(|entry| entry.said_size = 0)), &[SizeMismatch]),
        (
            "stored, longer",
            and(stored("assets/a.css", b"abc").but(|entry| entry.said_size = 2)),
            &[SizeMismatch],
        ),
        ("another checksum", changed(|entry| entry.crc ^= 1), &[ChecksumMismatch]),
        ("no deflate", changed(|entry| entry.packed.fill(0xff)), &[DataCorrupt]),
        (
            "cut off",
            and(long().but(|entry| {
                entry.packed.pop();
                entry.said_packed -= 1;
            })),
            &[DataCorrupt],
        ),
        ("bytes behind the data", and(hidden()), &[HiddenData]),
        (
            "another name inside",
            changed(|entry| entry.local_name = Some(b"assets/b.css".to_vec())),
            &[HeaderMismatch],
        ),
        ("another method inside", changed(|entry| entry.local_method = Some(0)), &[HeaderMismatch]),
        (
            "other flags inside",
            changed(|entry| entry.local_flags = Some(1 << 11)),
            &[HeaderMismatch],
        ),
        ("another size inside", changed(|entry| entry.local_size = Some(1)), &[HeaderMismatch]),
        (
            "another descriptor",
            and(long().streamed(true).but(|entry| entry.descriptor = Some(vec![7; 12]))),
            &[HeaderMismatch],
        ),
        ("nowhere", beyond, &[EntryTruncated]),
        ("in another's place", twice, &[EntriesOverlap, HeaderMismatch]),
        ("a gap", changed(|entry| entry.gap = b"hidden".to_vec()), &[HiddenData]),
    ]);
}

#[test]
fn each_invalid_archive_has_its_code() {
    let good = zip(&entries(&theme()));
    let end = |change: fn(&mut super::zip::End)| zip_but(&entries(&theme()), change);
    let prefixed = [b"#!/bin/sh\n".as_slice(), &good].concat();
    let mut first = entries(&theme());
    first[0].gap = b"MZ".to_vec();
    let one = deflated("assets/x.css", b"x");
    let many: Vec<Entry> = (0..1_001)
        .map(|number| one.clone().but(|entry| entry.name = format!("assets/{number}.css").into()))
        .collect();
    let directory = stored("assets/", b"").but(|entry| entry.offset = Some(0));
    let mut crowd = vec![directory; 65_000];
    crowd[0].offset = None;
    rejected(vec![
        ("nothing", Vec::new(), &[NotAZip]),
        ("text", b"slug: plain-linen".to_vec(), &[NotAZip]),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec(), &[NotAZip]),
        ("half", good[..good.len() / 2].to_vec(), &[NotAZip]),
        ("without its last byte", good[..good.len() - 1].to_vec(), &[ArchiveMalformed]),
        ("empty", zip(&[]), &[ArchiveEmpty]),
        ("too large", vec![0; (4 << 20) + 1], &[ArchiveTooLarge]),
        ("bytes before", prefixed, &[DataBeforeArchive]),
        ("bytes before the first entry", zip(&first), &[DataBeforeArchive]),
        ("bytes behind", [&good, b"x".as_slice()].concat(), &[DataAfterArchive]),
        ("an archive in its comment", end(|end| end.comment = zip(&[])), &[ArchiveMalformed]),
        ("another count", end(|end| end.count += 1), &[EntryCountMismatch]),
        ("too few", end(|end| end.count -= 1), &[EntryCountMismatch]),
        ("a part", end(|end| end.disk = 1), &[ArchiveMultiDisk]),
        ("the long format", end(|end| end.count = u16::MAX), &[Zip64Rejected]),
        ("a directory behind everything", end(|end| end.offset = u32::MAX), &[ArchiveMalformed]),
        ("a directory elsewhere", end(|end| end.offset -= 1), &[ArchiveMalformed]),
        ("a directory too long", end(|end| end.size += 1), &[ArchiveMalformed]),
        (
            "1,001 entries",
            zip(&many),
            &[TooManyEntries, ManifestMissing, LayoutMissing, IndexMissing, SettingsSchemaMissing],
        ),
        ("65,000 entries", zip(&crowd), &[TooManyEntries, PathDuplicate, EntriesOverlap]),
    ]);
}

#[test]
fn a_zip_bomb_is_rejected_before_it_is_unpacked() {
    let packed = bomb();
    assert!((1_000_000..2_000_000).contains(&packed.len()), "{} bytes", packed.len());
    let entry = |said_size: u32| {
        let mut entry = stored("assets/a.css", b"");
        (entry.method, entry.said_size) = (8, said_size);
        entry.said_packed = u32::try_from(packed.len()).unwrap();
        entry.packed.clone_from(&packed);
        entry
    };
    let harmless = read(&zip(&entries(&theme()))).unpacked;
    for (said_size, code, most) in [
        (1 << 30, RatioExceeded, 0),
        (40 << 20, UnpackedTooLarge, 0),
        (20 << 20, SizeMismatch, (20 << 20) + 1),
        (100, SizeMismatch, 101),
        (0, SizeMismatch, 1),
    ] {
        let reading = read(&and(entry(said_size)));
        assert_eq!(errors(&reading).into_iter().collect::<Vec<_>>(), [code], "{said_size}");
        let unpacked = reading.unpacked - harmless;
        assert!(unpacked <= most, "{said_size}: {unpacked} bytes were unpacked");
    }
}

#[test]
fn many_small_bombs_are_bounded_together() {
    let mebibyte = vec![b'a'; 1 << 20];
    let mut packed = compress_to_vec(&mebibyte, 1);
    // Empty blocks before the data keep the ratio just below a hundredfold.
    while packed.len() * 100 < mebibyte.len() {
        packed.splice(0..0, [0, 0, 0, 0xff, 0xff]);
    }
    let mut all = entries(&theme());
    for number in 0..60 {
        let mut entry = deflated(format!("assets/{number}.css"), &mebibyte);
        entry.said_packed = u32::try_from(packed.len()).unwrap();
        entry.packed.clone_from(&packed);
        all.push(entry);
    }
    let reading = read(&zip(&all));
    assert_eq!(errors(&reading).into_iter().collect::<Vec<_>>(), [UnpackedTooLarge]);
    assert!(reading.unpacked <= 32 << 20, "{}", reading.unpacked);
}

#[test]
fn all_problems_are_reported_at_once() {
    let mut all = entries(&theme());
    all.remove(1);
    all.push(deflated("../a", b"x"));
    all.push(deflated("assets/b.exe", b"x"));
    all.push(deflated("assets/c.css", b"x").but(|entry| entry.crc = 0));
    all.push(deflated("assets/d.css", b"x").but(|entry| entry.attributes = 0o120_777 << 16));
    all.push(deflated("locales/de.json", b"{"));
    let reading = read(&zip(&all));
    let expected: Vec<(Code, &str)> = vec![
        (PathTraversal, "../a"),
        (Symlink, "assets/d.css"),
        (ChecksumMismatch, "assets/c.css"),
        (FileTypeRejected, "assets/b.exe"),
        (LayoutMissing, "layout/theme.liquid"),
        (JsonInvalid, "locales/de.json"),
    ];
    let found: Vec<(Code, &str)> =
        reading.findings.iter().map(|found| (found.code, found.path.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn archives_of_common_writers_are_read_alike() {
    let plain = entries(&theme());
    let stored: Vec<Entry> =
        theme().iter().map(|(name, text)| stored(name, text.as_bytes())).collect();
    let streamed = |signed: bool| -> Vec<Entry> {
        plain.iter().map(|entry| entry.clone().streamed(signed)).collect()
    };
    // With directories, without modes, in UTF-8, and with times in extra fields.
    let mut rich: Vec<Entry> =
        ["assets/", "config/"].map(|name| super::zip::stored(name, b"")).into();
    rich.extend(plain.iter().cloned().map(|entry| {
        entry.but(|entry| {
            (entry.flags, entry.attributes) = (1 << 11, 0);
            entry.extra = b"UT\x05\0\x03\0\0\0\0".to_vec();
        })
    }));
    let commented = zip_but(&plain, |end| end.comment = b"f3b1c0de".repeat(5));
    let wrapped: Vec<Entry> = std::iter::once(super::zip::stored("plain-linen-main/", b""))
        .chain(
            theme()
                .iter()
                .map(|(name, text)| deflated(format!("plain-linen-main/{name}"), text.as_bytes())),
        )
        .collect();
    let first = read(&zip(&plain));
    assert!(first.findings.is_empty(), "{:#?}", first.findings);
    let package = first.package.unwrap();
    for bytes in [
        zip(&stored),
        zip(&streamed(true)),
        zip(&streamed(false)),
        zip(&rich),
        commented,
        zip(&wrapped),
    ] {
        let reading = read(&bytes);
        assert!(reading.findings.is_empty(), "{:#?}", reading.findings);
        assert_eq!(reading.package.as_ref(), Some(&package));
    }
}

#[test]
fn system_files_are_left_out_with_a_warning() {
    let mut all = entries(&theme());
    for name in ["__MACOSX/._theme.json", ".DS_Store", "assets/._theme.css", "assets/.DS_Store"] {
        all.push(deflated(name, b"\0\x05\x16\x07"));
    }
    all.push(deflated("README.md", b"# Plain Linen"));
    all.push(deflated("LICENSE.md", b"MIT"));
    for name in [".github/workflows/ci.yml", ".github/workflows/cd.yml", "notes/a.txt"] {
        all.push(deflated(name, b"on: push"));
    }
    let reading = read(&zip(&all));
    let expected = [IgnoredFile, OutsideDirectories].into();
    assert_eq!((errors(&reading), warnings(&reading)), ([].into(), expected));
    let outside = reading.findings.iter().filter(|finding| finding.code == OutsideDirectories);
    let outside: Vec<(&str, &str)> =
        outside.map(|finding| (finding.path.as_str(), finding.detail.as_str())).collect();
    let expected = [
        (".github/", "Not in a directory of a theme; its 2 files were ignored."),
        ("notes/", "Not in a directory of a theme; its file was ignored."),
        ("LICENSE.md", "Not in a directory of a theme; the file and README.md were ignored."),
    ];
    assert_eq!(outside, expected);
    assert_eq!(reading.findings.len(), 7);
    assert_eq!(reading.package.unwrap().files.len(), theme().len());
}
