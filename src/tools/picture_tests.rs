//! Images as they are, smaller copies, and what is refused.

use super::*;
use image::{ImageEncoder as _, Rgba, RgbaImage};

/// An image whose pixels differ in a way that does not compress.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    let pixels = RgbaImage::from_fn(width, height, |_, _| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let [a, b, c, _] = state.to_le_bytes();
        Rgba([a, b, c, 255])
    });
    DynamicImage::from(pixels)
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = if format == ImageFormat::Jpeg { DynamicImage::from(image.to_rgb8()) } else { image.clone() };
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn decoded(picture: &Picture) -> DynamicImage {
    let bytes = base64::engine::general_purpose::STANDARD.decode(&picture.image.data).unwrap();
    assert_eq!(bytes.len(), picture.bytes);
    image::load_from_memory(&bytes).unwrap()
}

#[test]
fn every_format_comes_back_as_it_is() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let bytes = encoded(&noise(30, 20), format);
        let picture = prepare(&bytes).unwrap();
        assert_eq!((picture.original, picture.size, picture.is_copy), ((30, 20), (30, 20), false));
        assert_eq!(picture.image.media_type, format.to_mime_type());
        assert_eq!(base64::engine::general_purpose::STANDARD.decode(&picture.image.data).unwrap(), bytes);
        assert_eq!((dimensions(&bytes), format_of_binary(&bytes)), (Some((30, 20)), Some(format)));
    }
    assert_eq!(format_of_binary(b"GIF89a is how this text begins"), None);
    assert_eq!((dimensions(b"BM...."), dimensions(b"\x89PNG\r\n\x1a\n")), (None, None));
}

#[test]
fn a_wide_image_is_made_smaller_and_keeps_its_shape() {
    let wide = DynamicImage::from(RgbaImage::from_pixel(4000, 100, Rgba([10, 20, 30, 128])));
    let picture = prepare(&encoded(&wide, ImageFormat::Png)).unwrap();
    assert_eq!((picture.original, picture.size, picture.is_copy), ((4000, 100), (2000, 50), true));
    let copy = decoded(&picture);
    assert_eq!((copy.width(), copy.height(), picture.image.media_type.as_str()), (2000, 50, "image/png"));
    assert_eq!(copy.to_rgba8().get_pixel(1000, 25), &Rgba([10, 20, 30, 128]));
}

#[test]
fn an_image_of_too_many_bytes_is_made_smaller() {
    let small = encoded(&noise(30, 20), ImageFormat::Png);
    let padded = [small.as_slice(), &vec![0; RESULT_BYTES_MAX]].concat();
    let picture = prepare(&padded).unwrap();
    assert!(picture.is_copy && picture.bytes < 5_000 && picture.size == (30, 20));
    assert_eq!(decoded(&picture).to_rgb8(), noise(30, 20).to_rgb8());
    // Noise hardly gets smaller: less of it does.
    for (format, media_type) in [(ImageFormat::Png, "image/jpeg"), (ImageFormat::Jpeg, "image/jpeg")] {
        let (bytes, is, (width, height)) = smaller(&noise(300, 150), format, 10_000).unwrap();
        assert!(bytes.len() <= 10_000 && is == media_type, "{format:?}");
        assert!(width < 300 && width.abs_diff(height * 2) <= 2, "{width} x {height}");
    }
}

#[test]
fn a_photograph_that_lies_on_its_side_is_turned_when_it_is_copied() {
    let image = noise(2400, 30).to_rgb8();
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 50);
    // Exif: little endian, one entry, orientation (0x0112) 6: to be turned by 90 degrees.
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    encoder.set_exif_metadata(exif).unwrap();
    encoder.encode_image(&image).unwrap();
    let picture = prepare(&bytes).unwrap();
    assert_eq!((picture.original, picture.size), ((2400, 30), (25, 2000)));
}

#[test]
fn what_is_damaged_or_a_bomb_is_refused_without_much_memory() {
    let whole = encoded(&noise(30, 20), ImageFormat::Png);
    let refused = |bytes: &[u8]| prepare(bytes).unwrap_err().to_string();
    assert!(refused(&whole[..whole.len() / 2]).contains("cannot be decoded"));
    assert!(refused(b"\xff\xd8\xff\xe0 no image").contains("cannot be decoded"));
    // The header alone says a size; nothing like it is ever allocated.
    for (width, height) in [(60_000_u32, 60_000_u32), (16_000, 16_000), (1, 1_000_000)] {
        let mut bomb = whole.clone();
        bomb[16..20].copy_from_slice(&width.to_be_bytes());
        bomb[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc32(&bomb[12..29]).to_be_bytes();
        bomb[29..33].copy_from_slice(&sum);
        assert!(refused(&bomb).contains("too large to be decoded"), "{width} x {height}");
    }
}

/// As PNG has it (RFC 2083, section 15), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}
