//! Images in results: what model APIs take as they are, and smaller copies of what they do not.

use std::io::Cursor;

use base64::Engine as _;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};
use tokio::sync::Semaphore;

use crate::domain::result::Image;
use crate::workspace::{is_binary_sample, media_type};

/// The largest image file, in bytes, that is read.
pub(super) const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The most bytes of an image in a result: 5 MiB once they are base64, which model APIs take.
const RESULT_BYTES_MAX: usize = 3 * 1024 * 1024 + 768 * 1024;
/// The most pixels of a side of an image in a result; models see no more.
const RESULT_SIDE_MAX: u32 = 2000;
/// The most pixels of a side of an image that is decoded.
const DECODED_SIDE_MAX: u32 = 16_384;
/// The most bytes that one image may take while it is decoded.
const DECODED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The quality of smaller copies as JPEG, of 100.
const JPEG_QUALITY: u8 = 85;

/// How many images are decoded at a time in this process, so that together they stay within some memory.
pub(super) static DECODING: Semaphore = Semaphore::const_new(2);

/// An image for a result.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) image: Image,
    /// Of the file, in pixels.
    pub(super) original: (u32, u32),
    /// Of the image in the result.
    pub(super) size: (u32, u32),
    /// Of the image in the result, in bytes.
    pub(super) bytes: usize,
    /// It is not the file itself, but a smaller copy.
    pub(super) is_copy: bool,
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub(super) enum PictureError {
    /// The content is damaged, or not what it looks like.
    #[error("it cannot be decoded: {0}")]
    Damaged(String),
    /// Decoding it would take more than is allowed.
    #[error(
        "it is too large to be decoded (at most {DECODED_SIDE_MAX} pixels a side and {} MiB in memory)",
        DECODED_BYTES_MAX / 1024 / 1024
    )]
    TooLarge,
    /// A smaller copy could not be made.
    #[error("a smaller copy of it could not be made: {0}")]
    Encode(String),
}

impl From<ImageError> for PictureError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::TooLarge,
            ImageError::Encoding(error) => Self::Encode(error.to_string()),
            other => Self::Damaged(other.to_string()),
        }
    }
}

/// The format of content that results can have images of, told by its first bytes alone.
pub(super) fn format(content: &[u8]) -> Option<ImageFormat> {
    match media_type(content)? {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

/// The same for content that is no text: a text may begin like an image.
pub(super) fn format_of_binary(head: &[u8]) -> Option<ImageFormat> {
    let is_text = || match std::str::from_utf8(head) {
        Ok(_) => !is_binary_sample(head),
        // A character cut at the end of what was read is no error.
        Err(error) => error.error_len().is_none() && !is_binary_sample(head),
    };
    format(head).filter(|_| !is_text())
}

/// Width and height by the beginning of an image; no pixel is decoded.
pub(super) fn dimensions(head: &[u8]) -> Option<(u32, u32)> {
    reader(head, format(head)?).into_dimensions().ok()
}

/// The image as it is, where model APIs take it, else a smaller copy. It is decoded in any case: one that cannot
/// be would have the API refuse the whole conversation.
pub(super) fn prepare(content: &[u8]) -> Result<Picture, PictureError> {
    let format = format(content).ok_or_else(|| PictureError::Damaged("its type is not known".to_owned()))?;
    let mut decoder = reader(content, format).into_decoder()?;
    if decoder.total_bytes() > DECODED_BYTES_MAX {
        return Err(PictureError::TooLarge);
    }
    let original = decoder.dimensions();
    let orientation = decoder.orientation()?;
    let mut pixels = DynamicImage::from_decoder(decoder)?;
    let fits = original.0.max(original.1) <= RESULT_SIDE_MAX && content.len() <= RESULT_BYTES_MAX;
    let (bytes, media_type, size) = if fits {
        (content.to_vec(), format.to_mime_type(), original)
    } else {
        // The copy has no Exif data that would say how to turn it.
        pixels.apply_orientation(orientation);
        smaller(&pixels, format, RESULT_BYTES_MAX)?
    };
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let image = Image { media_type: media_type.to_owned(), data };
    Ok(Picture { image, original, size, bytes: bytes.len(), is_copy: !fits })
}

fn reader(content: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(DECODED_SIDE_MAX);
    limits.max_image_height = Some(DECODED_SIDE_MAX);
    limits.max_alloc = Some(DECODED_BYTES_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    reader.limits(limits);
    reader
}

type Encoded = (Vec<u8>, &'static str, (u32, u32));

/// A copy within the bounds: of a photograph as JPEG, of others as PNG where that is small enough.
fn smaller(image: &DynamicImage, format: ImageFormat, bytes_max: usize) -> Result<Encoded, PictureError> {
    let mut longest = RESULT_SIDE_MAX.min(image.width().max(image.height()));
    loop {
        let copy = image.thumbnail(longest, longest);
        let size = (copy.width(), copy.height());
        if format != ImageFormat::Jpeg {
            let png = png(&copy)?;
            if png.len() <= bytes_max {
                return Ok((png, "image/png", size));
            }
        }
        let mut jpeg = Vec::new();
        copy.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY))?;
        if jpeg.len() <= bytes_max {
            return Ok((jpeg, "image/jpeg", size));
        }
        // Noise: each round has less than half as many pixels.
        longest = longest * 2 / 3;
    }
}

/// With eight bits a channel, as every reader takes it.
fn png(image: &DynamicImage) -> Result<Vec<u8>, PictureError> {
    let eight_bits = if image.has_alpha() {
        DynamicImage::from(image.to_rgba8())
    } else {
        DynamicImage::from(image.to_rgb8())
    };
    let mut png = Vec::new();
    eight_bits.write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
    Ok(png)
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
