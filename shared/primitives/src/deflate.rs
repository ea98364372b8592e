//! Compression: deflate (RFC 1951) with a preset vocabulary that reader and writer share.
//!
//! Items of the table are mostly short JSON, and short JSON is mostly names. A plain stream has to
//! spell each name once. One that begins with the vocabulary refers to it instead, so that an order or
//! an event takes a third to a fifth of the bytes.
//!
//! The vocabulary is data: it has texts that are likely, and allows any. Streams must stay readable, so a
//! vocabulary never changes; a new one gets another number.
//!
//! A text that is stored next to a stream may stand behind the vocabulary ([`deflate_after`]), so that the
//! stream refers to it as well: the ids in an item's keys are the ones in its body.

use std::cell::RefCell;
use std::sync::LazyLock;

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use crate::problem::Problem;

/// The vocabularies by number: texts that are likely in stored items. The likeliest come last, where
/// references to them are short. New streams are written with the last vocabulary.
const VOCABULARIES: [&[u8]; 5] = [
    include_bytes!("vocabulary-1.txt"),
    include_bytes!("vocabulary-2.txt"),
    include_bytes!("vocabulary-3.txt"),
    include_bytes!("vocabulary-4.txt"),
    VOCABULARY,
];
/// The vocabulary of new streams.
const VOCABULARY: &[u8] = include_bytes!("vocabulary-5.txt");
/// Its number, from 1, which is the first byte of each stream.
const NUMBER: u8 = 5;
/// Added to the number of a stream that refers to a text next to it.
const AFTER: u8 = 0x80;
/// The size of the head: the vocabulary's number, and the length of the plain bytes.
const HEAD: usize = 5;
/// The size of a thread's reusable output buffer.
const ROOM: usize = 128 << 10;
/// zlib's best: it finds in a vocabulary of 24 KB what its own compromise, 6, gives up on, and an event of an
/// order of two lines is 40 bytes less.
const LEVEL: i32 = 9;

/// A compressor that has read the vocabulary.
static PRIMED: LazyLock<CompressorOxide> = LazyLock::new(|| {
    let mut compressor = CompressorOxide::new(create_comp_flags_from_zip_params(LEVEL, 0, 0));
    // The compressed vocabulary itself is discarded; after the flush the stream is at a byte boundary.
    let mut sink = vec![0; VOCABULARY.len().saturating_mul(2)];
    compress(&mut compressor, VOCABULARY, &mut sink, TDEFLFlush::Sync);
    compressor
});

thread_local! {
    /// A decompressor, the number of a vocabulary, and a buffer that begins with it. The buffer is reused,
    /// so that it is allocated once for each thread.
    static READ: RefCell<(DecompressorOxide, u8, Vec<u8>)> =
        RefCell::new((DecompressorOxide::new(), NUMBER, VOCABULARY.to_vec()));
}

/// The bytes, deflated.
pub fn deflate(plain: &[u8]) -> Result<Vec<u8>, Problem> {
    deflate_after(&[], plain)
}

/// The bytes, deflated, for a reader who has `known` as well.
pub fn deflate_after(known: &[u8], plain: &[u8]) -> Result<Vec<u8>, Problem> {
    let length = u32::try_from(plain.len()).map_err(Problem::internal)?;
    let mut compressor = PRIMED.clone();
    let mut out = vec![0; plain.len().div_ceil(2).saturating_add(64)];
    if !known.is_empty() {
        // As of the vocabulary, nothing of it is stored.
        let mut sink = vec![0; known.len().saturating_mul(2).saturating_add(64)];
        compress(&mut compressor, known, &mut sink, TDEFLFlush::Sync);
    }
    let (mut read, mut written) = (0, HEAD);
    loop {
        let (unread, output) = (plain.get(read..), out.get_mut(written..));
        let (unread, output) = (unread.unwrap_or_default(), output.unwrap_or_default());
        let (status, took, gave) = compress(&mut compressor, unread, output, TDEFLFlush::Finish);
        (read, written) = (read.saturating_add(took), written.saturating_add(gave));
        match status {
            TDEFLStatus::Done => break,
            TDEFLStatus::Okay => out.resize(out.len().saturating_mul(2), 0),
            failure => return Err(Problem::internal(format!("deflating ended in {failure:?}"))),
        }
    }
    out.truncate(written);
    let number = if known.is_empty() { NUMBER } else { NUMBER | AFTER };
    let head = std::iter::once(number).chain(length.to_be_bytes());
    out.iter_mut().zip(head).for_each(|(place, byte)| *place = byte);
    Ok(out)
}

/// Inflates a stream to at most `limit` bytes.
pub fn inflate(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Problem> {
    inflate_after(&[], bytes, limit)
}

/// As [`inflate`], also of a stream that refers to `known`. One that does not is read all the same.
pub fn inflate_after(known: &[u8], bytes: &[u8], limit: usize) -> Result<Vec<u8>, Problem> {
    let unreadable = || Problem::internal("deflated bytes cannot be read");
    let (head, stream) = bytes.split_first_chunk::<HEAD>().ok_or_else(unreadable)?;
    let [number, length @ ..] = *head;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(Problem::internal)?;
    let (is_after, number) = (number & AFTER != 0, number & !AFTER);
    let known = if is_after { known } else { &[] };
    if is_after && known.is_empty() {
        return Err(unreadable());
    }
    if number > NUMBER {
        // While a deployment is under way, or after it was rolled back: no work is given up for it.
        return Err(Problem::unavailable("a newer version has deflated this"));
    }
    let vocabulary = usize::from(number).checked_sub(1).and_then(|place| VOCABULARIES.get(place));
    let vocabulary = vocabulary.filter(|_| length <= limit).ok_or_else(unreadable)?;
    READ.with_borrow_mut(|(decompressor, before, out)| {
        if *before != number {
            *before = number;
            out.clear();
            out.extend_from_slice(vocabulary);
        }
        let start = vocabulary.len().saturating_add(known.len());
        let end = start.saturating_add(length);
        if out.len() < end {
            out.resize(end, 0);
        }
        let place = out.get_mut(vocabulary.len()..start).ok_or_else(unreadable)?;
        place.copy_from_slice(known);
        let output = out.get_mut(..end).ok_or_else(unreadable)?;
        decompressor.init();
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, _, written) = decompress(decompressor, stream, output, start, flags);
        let plain = output.get(start..).map(<[u8]>::to_vec);
        out.truncate(ROOM);
        out.shrink_to(ROOM);
        let is_whole = status == TINFLStatus::Done && written == length;
        plain.filter(|_| is_whole).ok_or_else(unreadable)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;
    use sha2::{Digest, Sha256};

    fn random_bytes<const N: usize>() -> [u8; N] {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).unwrap();
        bytes
    }

    const LIMIT: usize = 1 << 20;

    #[test]
    fn a_deflated_text_is_inflated_byte_for_byte() {
        let noise = random_bytes::<20_000>();
        let repeated = b"{\"amount\":100,\"currency\":\"INR\"}".repeat(2_000);
        for plain in [&b""[..], b"x", b"{\"id\":\"ord_1\"}", &noise, &repeated, VOCABULARY] {
            let small = deflate(plain).unwrap();
            assert!(small.len() <= HEAD + 16 + plain.len() + plain.len() / 100, "{}", small.len());
            assert_eq!(inflate(&small, LIMIT).unwrap(), plain);
        }
    }

    #[test]
    fn the_names_of_an_order_cost_next_to_nothing() {
        let id = uuid::Uuid::new_v4().simple();
        let line = format!(
            r#"{{"financial_status":"pending","fulfillment_status":"unfulfilled","id":"ord_{id}","#
        );
        let rest = r#""captured":{"amount":0,"currency":"INR"},"confirmed":false,"status":"open"}"#;
        let small = deflate(format!("{line}{rest}").as_bytes()).unwrap();
        assert!(small.len() < 80, "{}", small.len());
    }

    #[test]
    fn a_text_next_to_a_stream_is_referred_to_and_not_stored() {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let (known, plain) = (format!("STO#sto_{id}"), format!("{{\"store_id\":\"sto_{id}\"}}"));
        let (known, plain) = (known.as_bytes(), plain.as_bytes());
        let small = deflate_after(known, plain).unwrap();
        assert!(small.len() + 12 < deflate(plain).unwrap().len(), "{}", small.len());
        assert_eq!(inflate_after(known, &small, LIMIT).unwrap(), plain);
        assert!(inflate(&small, LIMIT).is_err(), "it refers to what is not there");
        // Streams from before are read as they were, and so is the next one.
        assert_eq!(inflate_after(known, &deflate(plain).unwrap(), LIMIT).unwrap(), plain);
        assert_eq!(inflate(&deflate(VOCABULARY).unwrap(), LIMIT).unwrap(), VOCABULARY);
    }

    #[test]
    fn an_overlong_truncated_or_foreign_stream_is_not_inflated() {
        let small = deflate(&[7; 100]).unwrap();
        assert!(inflate(&small, 100).is_ok() && inflate(&small, 99).is_err());
        assert!(inflate(&small[..small.len() - 1], LIMIT).is_err());
        assert!(inflate(&small[..3], LIMIT).is_err() && inflate(&[], LIMIT).is_err());
        let mut other = small.clone();
        other[0] = NUMBER + 1;
        assert!(inflate(&other, LIMIT).is_err());
        let mut longer = small;
        longer[4] += 1;
        assert!(inflate(&longer, LIMIT).is_err());
    }

    #[test]
    fn the_vocabularies_are_unchanged() {
        let known = [
            "05fffd7b1c15fa00e5ba1f8546b354edf698f62c80ac491bd867584a02d275a2",
            "7d3f0e292e1cb3795fc9887138c7456d8cf21c9a4e18defdb18ec7fa19f671fc",
            "ec3a529acdbaccb62ccbe8feb5e58cc1759e344a62f1a6517c5dec84003bbda7",
            "1a65f16becd4df29a1e77eafea5d32b96ef0f17f385b899f6742089cb34a7452",
        ];
        for (vocabulary, known) in VOCABULARIES.iter().zip(known) {
            let digest = Sha256::digest(vocabulary);
            let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let hex: String = digits.filter_map(|it| char::from_digit(it.into(), 16)).collect();
            assert_eq!(hex, known);
            assert!(vocabulary.len() < 24 * 1024, "the window has room for what comes after it");
        }
        assert_eq!(usize::from(NUMBER), VOCABULARIES.len());
    }

    #[test]
    fn a_stream_of_a_newer_version_is_unavailable_and_not_corrupt() {
        for (after, known) in [(0, &b""[..]), (AFTER, b"ord_1")] {
            let mut stream = deflate_after(known, b"{}").unwrap();
            stream[0] = (NUMBER + 1) | after;
            let failure = inflate_after(known, &stream, LIMIT).unwrap_err();
            assert_eq!(failure.code, Code::Unavailable);
        }
    }

    #[test]
    fn a_stream_of_the_first_vocabulary_is_inflated() {
        // `{"status":"open"}`, as it was written before there was another.
        let written = [1, 0, 0, 0, 17, 171, 70, 139, 212, 90, 0];
        for _ in 0..2 {
            assert_eq!(inflate(&written, LIMIT).unwrap(), br#"{"status":"open"}"#);
            let now = deflate(b"{}").unwrap();
            assert_eq!((now[0], inflate(&now, LIMIT).unwrap().as_slice()), (NUMBER, &b"{}"[..]));
        }
    }
}
