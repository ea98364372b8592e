//! The encodings of responses: those of a deployment's functions, and the two that browsers take besides.

use std::io;

use brotli::enc::BrotliEncoderParams;
use gateway::encoding::{Encoding, Encodings, GZIP};

/// The level of zstd: its own default.
const ZSTD_LEVEL: i32 = 3;
/// The quality of Brotli (our choice): of the ones that are as fast as gzip, the one that makes the least.
const BROTLI_QUALITY: i32 = 4;

const ZSTD: Encoding = Encoding { name: "zstd", encode: zstd };
const BROTLI: Encoding = Encoding { name: "br", encode: brotli };

/// All of them. Of those that a caller likes as well, zstd takes the least time.
pub(crate) fn all() -> Encodings {
    Encodings::new([ZSTD, BROTLI, GZIP])
}

fn zstd(body: &[u8]) -> io::Result<Vec<u8>> {
    zstd::encode_all(body, ZSTD_LEVEL)
}

fn brotli(mut body: &[u8]) -> io::Result<Vec<u8>> {
    let parameters = BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        size_hint: body.len(),
        ..BrotliEncoderParams::default()
    };
    let mut encoded = Vec::new();
    brotli::BrotliCompress(&mut body, &mut encoded, &parameters)?;
    Ok(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_text_is_decoded_unchanged() {
        let body = include_bytes!("encodings.rs").repeat(20);
        let encoded = zstd(&body).unwrap();
        assert!(encoded.len() < body.len() / 10);
        assert_eq!(zstd::decode_all(&*encoded).unwrap(), body);
        let (encoded, mut decoded) = (brotli(&body).unwrap(), Vec::new());
        assert!(encoded.len() < body.len() / 10);
        brotli::BrotliDecompress(&mut &*encoded, &mut decoded).unwrap();
        assert_eq!(decoded, body);
    }
}
