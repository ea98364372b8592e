//! What the header of an image's file says: its type, and the size at which it is shown.

use std::io::Cursor;

use exif::{In, Reader, Tag};
use primitives::problem::Problem;

use super::MediaType;

/// The longest side that is believed, in pixels: no browser shows a longer one.
const LONGEST: usize = 65_535;

/// The type of an image, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageHeader {
    /// The media type.
    pub kind: MediaType,
    /// The width and the height in pixels, as it is shown; none if the file does not tell them.
    pub size: Option<(u32, u32)>,
}

impl ImageHeader {
    /// Reads the header of an image.
    ///
    /// # Errors
    /// `media_type_rejected`.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let kind = MediaType::of(bytes)?;
        let stored = imagesize::blob_size(bytes).ok();
        let side = |pixels: usize| {
            let known = (1..=LONGEST).contains(&pixels);
            u32::try_from(pixels).ok().filter(|_| known)
        };
        let stored = stored.and_then(|size| side(size.width).zip(side(size.height)));
        let turned = |(width, height)| {
            if is_turned(kind, bytes) { (height, width) } else { (width, height) }
        };
        Ok(Self { kind, size: stored.map(turned) })
    }
}

/// Whether browsers show an image turned by a quarter, as photos of telephones are (Exif 2.32 §4.6.4, orientations 5 to
/// 8). AVIF has another mark for that.
fn is_turned(kind: MediaType, bytes: &[u8]) -> bool {
    if !matches!(kind, MediaType::Jpeg | MediaType::Png | MediaType::Webp) {
        return false;
    }
    let Ok(exif) = Reader::new().read_from_container(&mut Cursor::new(bytes)) else { return false };
    let orientation = exif.get_field(Tag::Orientation, In::PRIMARY);
    orientation
        .and_then(|field| field.value.get_uint(0))
        .is_some_and(|value| (5..=8).contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG without pixels.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        file.extend(width.to_be_bytes());
        file.extend(height.to_be_bytes());
        file.extend(b"\x08\x02\0\0\0\0\0\0\0");
        file
    }

    /// A JPEG without pixels, 4 wide and 3 high, with this orientation.
    fn jpeg(orientation: u8) -> Vec<u8> {
        let tiff = [
            &b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
            &[orientation],
            b"\0\0\0\0\0\0",
        ]
        .concat();
        let length = u16::try_from(tiff.len()).unwrap().saturating_add(2).to_be_bytes();
        let frame = b"\xff\xc0\0\x0b\x08\0\x03\0\x04\x01\x01\x11\0";
        [&b"\xff\xd8\xff\xe1"[..], &length, &tiff, frame, b"\xff\xd9"].concat()
    }

    #[test]
    fn the_size_is_that_at_which_it_is_shown() {
        let size = |bytes: &[u8]| ImageHeader::read(bytes).unwrap().size;
        assert_eq!(size(&png(1_200, 600)), Some((1_200, 600)));
        for (orientation, expected) in [(1, (4, 3)), (3, (4, 3)), (6, (3, 4)), (8, (3, 4))] {
            assert_eq!(size(&jpeg(orientation)), Some(expected), "{orientation}");
        }
        for nonsense in [png(0, 600), png(u32::MAX, 600), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()]
        {
            assert_eq!(size(&nonsense), None);
        }
    }
}
