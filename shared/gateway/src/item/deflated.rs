//! Bytes that are kept small: deflated (RFC 1951) over a vocabulary that reader and writer share.
//!
//! What the table keeps is mostly short JSON, and short JSON is mostly names. A plain stream has to
//! spell each of them once; one that begins with the vocabulary as what went before refers to it, so
//! that an order or an event takes a third to a fifth of the bytes.
//!
//! The vocabulary is data and no rule: it says nothing about what is kept, only what is likely in it.
//! Whatever was written stays readable, so it never changes; another one gets another number.

use std::cell::RefCell;
use std::sync::LazyLock;

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use crate::problem::Problem;

/// What is likely in what is kept; what is likeliest stands last, where references to it are short.
const VOCABULARY: &[u8] = include_bytes!("vocabulary.txt");
/// Its number, which each stream begins with.
const NUMBER: u8 = 1;
/// The number of it, and the length of what was deflated.
const HEAD: usize = 5;
/// What a thread keeps at hand to inflate into.
const ROOM: usize = 128 << 10;
/// zlib's own choice between speed and size.
const LEVEL: i32 = 6;

/// A compressor that has seen the vocabulary.
static PRIMED: LazyLock<CompressorOxide> = LazyLock::new(|| {
    let mut compressor = CompressorOxide::new(create_comp_flags_from_zip_params(LEVEL, 0, 0));
    // What it makes of the vocabulary itself is nobody's to read; after the flush it is at a byte.
    let mut sink = vec![0; VOCABULARY.len().saturating_mul(2)];
    compress(&mut compressor, VOCABULARY, &mut sink, TDEFLFlush::Sync);
    compressor
});

thread_local! {
    /// A decompressor, and the vocabulary as what it has read before.
    static READ: RefCell<(DecompressorOxide, Vec<u8>)> =
        RefCell::new((DecompressorOxide::new(), VOCABULARY.to_vec()));
}

/// The bytes, deflated.
pub(crate) fn deflate(plain: &[u8]) -> Result<Vec<u8>, Problem> {
    let length = u32::try_from(plain.len()).map_err(Problem::internal)?;
    let mut compressor = PRIMED.clone();
    let mut out = vec![0; plain.len().div_ceil(2).saturating_add(64)];
    let (mut read, mut written) = (0, HEAD);
    loop {
        let (unread, room) = (plain.get(read..), out.get_mut(written..));
        let (unread, room) = (unread.unwrap_or_default(), room.unwrap_or_default());
        let (status, took, gave) = compress(&mut compressor, unread, room, TDEFLFlush::Finish);
        (read, written) = (read.saturating_add(took), written.saturating_add(gave));
        match status {
            TDEFLStatus::Done => break,
            TDEFLStatus::Okay => out.resize(out.len().saturating_mul(2), 0),
            failure => return Err(Problem::internal(format!("deflating ended in {failure:?}"))),
        }
    }
    out.truncate(written);
    let head = std::iter::once(NUMBER).chain(length.to_be_bytes());
    out.iter_mut().zip(head).for_each(|(place, byte)| *place = byte);
    Ok(out)
}

/// What was deflated, at most so many bytes.
pub(crate) fn inflate(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Problem> {
    let broken = || Problem::internal("deflated bytes cannot be read");
    let (head, stream) = bytes.split_first_chunk::<HEAD>().ok_or_else(broken)?;
    let [number, length @ ..] = *head;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(Problem::internal)?;
    if number != NUMBER || length > limit {
        return Err(broken());
    }
    READ.with_borrow_mut(|(decompressor, out)| {
        out.resize(VOCABULARY.len().saturating_add(length), 0);
        decompressor.init();
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, _, written) = decompress(decompressor, stream, out, VOCABULARY.len(), flags);
        let plain = out.split_off(VOCABULARY.len());
        out.shrink_to(ROOM);
        let is_whole = status == TINFLStatus::Done && written == length;
        if is_whole { Ok(plain) } else { Err(broken()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{digest, random_bytes};

    const LIMIT: usize = 1 << 20;

    #[test]
    fn what_was_deflated_is_inflated_byte_for_byte() {
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
        let id = crate::seal::hex(&random_bytes::<16>());
        let line = format!(
            r#"{{"financial_status":"pending","fulfillment_status":"unfulfilled","id":"ord_{id}","#
        );
        let rest = r#""captured":{"amount":0,"currency":"INR"},"confirmed":false,"status":"open"}"#;
        let small = deflate(format!("{line}{rest}").as_bytes()).unwrap();
        assert!(small.len() < 80, "{}", small.len());
    }

    #[test]
    fn what_is_too_long_cut_or_of_another_vocabulary_is_not_read() {
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
    fn the_vocabulary_is_what_items_were_written_with() {
        let text = String::from_utf8(VOCABULARY.to_vec()).unwrap();
        let known = "05fffd7b1c15fa00e5ba1f8546b354edf698f62c80ac491bd867584a02d275a2";
        assert_eq!(digest(&text), known);
        assert!(VOCABULARY.len() < 24 * 1024, "the window has room for what comes after it");
    }
}
