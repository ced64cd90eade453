//! What a binary file is, by its first bytes, so that a refusal can name it.

/// First bytes, where they stand, and the name of the type, its media type. The first match counts.
const TYPES: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image", "image/png"),
    (0, b"\xff\xd8\xff", "JPEG image", "image/jpeg"),
    (0, b"GIF87a", "GIF image", "image/gif"),
    (0, b"GIF89a", "GIF image", "image/gif"),
    (8, b"WEBP", "WebP image", "image/webp"),
    (8, b"WAVE", "WAV audio", "audio/wav"),
    (8, b"AVI ", "AVI video", "video/x-msvideo"),
    (4, b"ftypavif", "AVIF image", "image/avif"),
    (4, b"ftypheic", "HEIC image", "image/heic"),
    (4, b"ftyp", "MP4 or related media", "video/mp4"),
    (0, b"BM", "BMP image", "image/bmp"),
    (0, b"II*\0", "TIFF image", "image/tiff"),
    (0, b"MM\0*", "TIFF image", "image/tiff"),
    (0, b"\0\0\x01\0", "ICO image", "image/vnd.microsoft.icon"),
    (0, b"%PDF-", "PDF document", "application/pdf"),
    (0, b"PK\x03\x04", "ZIP archive (or a format built on it, such as DOCX, JAR or WHL)", "application/zip"),
    (0, b"PK\x05\x06", "empty ZIP archive", "application/zip"),
    (0, b"\x1f\x8b", "gzip data", "application/gzip"),
    (0, b"BZh", "bzip2 data", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "xz data", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard data", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "RAR archive", "application/vnd.rar"),
    (257, b"ustar", "tar archive", "application/x-tar"),
    (0, b"\x7fELF", "ELF executable or library", "application/x-elf"),
    (0, b"MZ", "Windows executable", "application/vnd.microsoft.portable-executable"),
    (0, b"\xfe\xed\xfa\xce", "Mach-O executable", "application/x-mach-binary"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O executable", "application/x-mach-binary"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O executable", "application/octet-stream"),
    (0, b"\0asm", "WebAssembly module", "application/wasm"),
    (0, b"!<arch>\n", "static library archive", "application/x-archive"),
    (0, b"SQLite format 3\0", "SQLite database", "application/vnd.sqlite3"),
    (0, b"OggS", "Ogg media", "application/ogg"),
    (0, b"ID3", "MP3 audio", "audio/mpeg"),
    (0, b"fLaC", "FLAC audio", "audio/flac"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM video", "video/matroska"),
    (0, b"wOFF", "WOFF font", "font/woff"),
    (0, b"wOF2", "WOFF2 font", "font/woff2"),
    (0, b"\0\x01\0\0\0", "TrueType font", "font/ttf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy Office document", "application/x-ole-storage"),
    (0, b"\xff\xfe\0\0", "UTF-32 text", "text/plain"),
    (0, b"\0\0\xfe\xff", "UTF-32 text", "text/plain"),
];

/// Types whose first bytes are never text: these are binary even when no NUL follows them.
const ALWAYS_BINARY: &[&str] = &["PDF document"];

/// The name of the type that `sample`, the first bytes of a file, looks like; `None` when it looks like none.
pub fn name_of_type(sample: &[u8]) -> Option<&'static str> {
    first_match(sample).map(|(name, _)| name)
}

/// The media type of a binary file (RFC 6838), by the same first bytes.
pub fn media_type(sample: &[u8]) -> Option<&'static str> {
    first_match(sample).map(|(_, media_type)| media_type)
}

fn first_match(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    let matches = |at: usize, magic: &[u8]| sample.get(at..).is_some_and(|s| s.starts_with(magic));
    TYPES.iter().find(|(at, magic, ..)| matches(*at, magic)).map(|(_, _, name, media)| (*name, *media))
}

/// Whether the first bytes alone say that this is not text, though it may hold no NUL near its beginning.
pub(super) fn is_always_binary(sample: &[u8]) -> bool {
    name_of_type(sample).is_some_and(|name| ALWAYS_BINARY.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_their_first_bytes() {
        let mut tar = vec![0_u8; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"\x89PNG\r\n\x1a\n\0\0", Some("PNG image")),
            (b"\xff\xd8\xff\xe0", Some("JPEG image")),
            (b"GIF89a...", Some("GIF image")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("WebP image")),
            (b"%PDF-1.7\n", Some("PDF document")),
            (b"\x7fELF\x02", Some("ELF executable or library")),
            (b"\x1f\x8b\x08", Some("gzip data")),
            (&tar, Some("tar archive")),
            (b"fn main() {}", None),
            (b"", None),
        ];
        for (sample, expected) in cases {
            assert_eq!(name_of_type(sample), *expected, "{sample:?}");
        }
        assert_eq!(media_type(b"GIF87a...."), Some("image/gif"));
        assert!(is_always_binary(b"%PDF-1.4\ntext"));
        assert!(!is_always_binary(b"BM is how this text begins"));
    }
}
