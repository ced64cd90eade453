//! What a binary file is, by its first bytes, so that a refusal can name it.

/// First bytes, where they stand, and the name of the type. The first match counts.
const TYPES: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (4, b"ftypavif", "AVIF image"),
    (4, b"ftypheic", "HEIC image"),
    (4, b"ftyp", "MP4 or related media"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "ICO image"),
    (0, b"%PDF-", "PDF document"),
    (0, b"PK\x03\x04", "ZIP archive (or a format built on it, such as DOCX, JAR or WHL)"),
    (0, b"PK\x05\x06", "empty ZIP archive"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\0", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\x7fELF", "ELF executable or library"),
    (0, b"MZ", "Windows executable"),
    (0, b"\xfe\xed\xfa\xce", "Mach-O executable"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O executable"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"!<arch>\n", "static library archive"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"OggS", "Ogg media"),
    (0, b"ID3", "MP3 audio"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (0, b"wOFF", "WOFF font"),
    (0, b"wOF2", "WOFF2 font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy Office document"),
    (0, b"\xff\xfe\0\0", "UTF-32 text"),
    (0, b"\0\0\xfe\xff", "UTF-32 text"),
];

/// Types whose first bytes are never text: these are binary even when no NUL follows them.
const ALWAYS_BINARY: &[&str] = &["PDF document"];

/// The name of the type that `sample`, the first bytes of a file, looks like; `None` when it looks like none.
pub fn name_of_type(sample: &[u8]) -> Option<&'static str> {
    let matches =
        |(at, magic, _): &&(usize, &[u8], &str)| sample.get(*at..).is_some_and(|s| s.starts_with(magic));
    TYPES.iter().find(matches).map(|(_, _, name)| *name)
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
        assert!(is_always_binary(b"%PDF-1.4\ntext"));
        assert!(!is_always_binary(b"BM is how this text begins"));
    }
}
