//! Pictures of the demo's products, drawn here, so that they need neither files nor licences.

use emulators::AnyError;
use serde::Deserialize;

/// The length of a side, in pixels.
const SIDE: u16 = 240;
/// Shades from the background's dark edge to its light one.
const SHADES: u8 = 24;
/// The index of the shape's colour in the palette, after the shades.
const INK: u8 = SHADES;

/// The shape on the background.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A disc.
    Disc,
    /// A ring.
    Ring,
    /// A diamond.
    Diamond,
    /// Stripes from corner to corner.
    Stripes,
    /// A chequered square.
    Chequers,
}

/// Draws the picture of the product at this position of the catalogue: a PNG with a palette.
pub fn draw(place: usize, shape: Shape) -> Result<Vec<u8>, AnyError> {
    let side = u32::from(SIDE);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side, side);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_palette(palette(place));
    let mut writer = encoder.write_header()?;
    let rows = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| colour(x, y, shape)));
    writer.write_image_data(&rows.collect::<Vec<u8>>())?;
    writer.finish()?;
    Ok(file)
}

/// The palette index of the pixel at `x`, `y`.
fn colour(x: u16, y: u16, shape: Shape) -> u8 {
    let middle = i32::from(SIDE.div_euclid(2));
    let across = i32::from(x).saturating_sub(middle);
    let down = i32::from(y).saturating_sub(middle);
    let from_middle =
        across.saturating_mul(across).saturating_add(down.saturating_mul(down)).unsigned_abs();
    let steps = across.unsigned_abs().saturating_add(down.unsigned_abs());
    let inside = across.unsigned_abs().max(down.unsigned_abs()) < 70;
    let is_odd = |length: u16| length.div_euclid(20).rem_euclid(2) == 1;
    let inked = match shape {
        Shape::Disc => from_middle < 4_900,
        Shape::Ring => (2_500..4_900).contains(&from_middle),
        Shape::Diamond => steps < 80,
        Shape::Stripes => inside && is_odd(x.saturating_add(y)),
        Shape::Chequers => inside && is_odd(x) != is_odd(y),
    };
    if inked {
        return INK;
    }
    let shade =
        x.saturating_add(y).saturating_mul(SHADES.into()).div_euclid(SIDE.saturating_mul(2));
    u8::try_from(shade).unwrap_or(0).min(SHADES.saturating_sub(1))
}

/// The shades of a hue, and the ink: red, green and blue of each.
fn palette(place: usize) -> Vec<u8> {
    let hues: [[u8; 3]; 8] = [
        [196, 106, 82],
        [86, 138, 124],
        [214, 170, 92],
        [98, 120, 168],
        [160, 110, 150],
        [120, 150, 90],
        [190, 130, 120],
        [90, 150, 170],
    ];
    let hue = hues.get(place.rem_euclid(hues.len())).copied().unwrap_or([128; 3]);
    let light = |part: u8, shade: u8| part.saturating_add(shade.saturating_mul(2));
    let shades = (0..SHADES).flat_map(|shade| hue.map(|part| light(part, shade)));
    shades.chain([250, 246, 238]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_small_png() {
        for shape in [Shape::Disc, Shape::Ring, Shape::Diamond, Shape::Stripes, Shape::Chequers] {
            let file = draw(3, shape).unwrap();
            assert!(file.starts_with(b"\x89PNG\r\n\x1a\n"), "{shape:?}");
            assert!(file.len() < 64_000, "{shape:?}: {} bytes", file.len());
        }
    }
}
