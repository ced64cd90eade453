//! Bytes to text and back, so that encoding, byte order mark and line endings stay as they were.

use std::fmt;

use super::magic::{is_always_binary, name_of_type};

/// How many bytes at a file's beginning decide whether it is text.
pub(super) const SAMPLE_BYTES: usize = 8 * 1024;

/// How a text lies on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, low byte first; only known by its byte order mark.
    Utf16Le,
    /// UTF-16, high byte first; only known by its byte order mark.
    Utf16Be,
}

/// How lines end in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// Every line by LF, or there is only one line.
    Lf,
    /// Every line by CR LF.
    CrLf,
    /// Some this way, some that way.
    Mixed,
}

/// A decoded file, with what it takes to write it back the way it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The text without its byte order mark, line endings as on disk.
    pub text: String,
    /// How it lies on disk.
    pub encoding: Encoding,
    /// Whether it begins with a byte order mark.
    pub bom: bool,
    /// How its lines end.
    pub line_ending: LineEnding,
}

/// Why bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The content is not text at all.
    #[error("binary content ({})", kind.unwrap_or("type unknown"))]
    Binary {
        /// The type its first bytes look like.
        kind: Option<&'static str>,
    },
    /// The content looks like text but cannot be decoded; nothing is guessed.
    #[error("the content is not valid {encoding} at byte {offset}; other encodings are not guessed")]
    Undecodable {
        /// The encoding that was tried.
        encoding: Encoding,
        /// Where the first bad sequence begins, in bytes from the beginning of the file.
        offset: u64,
    },
}

impl Encoding {
    /// The encoding and the length of the byte order mark that begin a file.
    pub(super) fn detect(sample: &[u8]) -> (Self, usize) {
        match sample {
            [0xEF, 0xBB, 0xBF, ..] => (Self::Utf8, 3),
            [0xFF, 0xFE, ..] => (Self::Utf16Le, 2),
            [0xFE, 0xFF, ..] => (Self::Utf16Be, 2),
            _ => (Self::Utf8, 0),
        }
    }

    fn unit(self, pair: [u8; 2]) -> u16 {
        if self == Self::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
        })
    }
}

impl LineEnding {
    /// How the lines of `text` end.
    pub fn of(text: &str) -> Self {
        let all = text.bytes().filter(|byte| *byte == b'\n').count();
        match text.matches("\r\n").count() {
            0 => Self::Lf,
            crlf if crlf == all => Self::CrLf,
            _ => Self::Mixed,
        }
    }
}

impl TextFile {
    /// Decodes UTF-8 (with or without a byte order mark) and UTF-16 (with one).
    pub fn decode(bytes: &[u8]) -> Result<Self, TextError> {
        let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        if is_binary_sample(sample) {
            return Err(TextError::Binary { kind: name_of_type(sample) });
        }
        let (encoding, mark) = Encoding::detect(sample);
        let mut text = String::new();
        Decoder::new(encoding, mark).decode(&bytes[mark..], true, &mut text)?;
        let line_ending = LineEnding::of(&text);
        Ok(Self { text, encoding, bom: mark > 0, line_ending })
    }

    /// A new file: UTF-8, no mark.
    pub fn new(text: String) -> Self {
        let line_ending = LineEnding::of(&text);
        Self { text, encoding: Encoding::Utf8, bom: false, line_ending }
    }

    /// The bytes to write for `text` in place of this file's text: same encoding, same mark. A mark that the
    /// text itself begins with is not doubled.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let text = if self.bom { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
        let mark = if self.bom { "\u{FEFF}" } else { "" };
        let units = || mark.encode_utf16().chain(text.encode_utf16());
        match self.encoding {
            Encoding::Utf8 => [mark.as_bytes(), text.as_bytes()].concat(),
            Encoding::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// Whether the first bytes of a file show that it is not text: a NUL (outside UTF-16), or a known type.
pub fn is_binary_sample(sample: &[u8]) -> bool {
    let utf32 = sample.starts_with(b"\xff\xfe\0\0");
    let (encoding, _) = Encoding::detect(sample);
    utf32 || is_always_binary(sample) || (encoding == Encoding::Utf8 && sample.contains(&0))
}

/// Decodes a stream piece by piece; a sequence cut between two pieces is carried over.
pub(super) struct Decoder {
    encoding: Encoding,
    carry: Vec<u8>,
    /// Where `carry` begins in the file.
    offset: u64,
}

impl Decoder {
    /// For a stream that goes on after a byte order mark of `mark` bytes.
    pub(super) fn new(encoding: Encoding, mark: usize) -> Self {
        Self { encoding, carry: Vec::new(), offset: mark as u64 }
    }

    /// Appends what `piece` decodes to; with `last`, an unfinished sequence is an error.
    pub(super) fn decode(&mut self, piece: &[u8], last: bool, out: &mut String) -> Result<(), TextError> {
        self.carry.extend_from_slice(piece);
        let done = match self.encoding {
            Encoding::Utf8 => self.utf8(out),
            Encoding::Utf16Le | Encoding::Utf16Be => self.utf16(out),
        };
        let (used, bad) = done;
        if bad || (last && used < self.carry.len()) {
            return Err(TextError::Undecodable {
                encoding: self.encoding,
                offset: self.offset + used as u64,
            });
        }
        self.carry.drain(..used);
        self.offset += used as u64;
        Ok(())
    }

    /// How many bytes were decoded, and whether what follows is wrong rather than unfinished.
    fn utf8(&self, out: &mut String) -> (usize, bool) {
        match std::str::from_utf8(&self.carry) {
            Ok(text) => {
                out.push_str(text);
                (self.carry.len(), false)
            }
            Err(error) => {
                let good = error.valid_up_to();
                // Decoded a line above: the lossy form is exact here.
                out.push_str(&String::from_utf8_lossy(&self.carry[..good]));
                (good, error.error_len().is_some())
            }
        }
    }

    fn utf16(&self, out: &mut String) -> (usize, bool) {
        let unit = |at: usize| match self.carry.get(at..at + 2) {
            Some(&[a, b]) => Some(self.encoding.unit([a, b])),
            _ => None,
        };
        let mut at = 0;
        while let Some(first) = unit(at) {
            if !(0xD800..0xE000).contains(&first) {
                out.extend(char::from_u32(u32::from(first)));
                at += 2;
                continue;
            }
            if first >= 0xDC00 {
                return (at, true);
            }
            let Some(second) = unit(at + 2) else { break };
            let Some(Ok(character)) = char::decode_utf16([first, second]).next() else { return (at, true) };
            out.push(character);
            at += 4;
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn every_encoding_comes_back_byte_for_byte() {
        let text = "fn naïve() {}\r\n// 漢字 🦀\r\n";
        let cases = [
            (text.as_bytes().to_vec(), Encoding::Utf8, false),
            ([b"\xEF\xBB\xBF", text.as_bytes()].concat(), Encoding::Utf8, true),
            (utf16(text, false), Encoding::Utf16Le, true),
            (utf16(text, true), Encoding::Utf16Be, true),
        ];
        for (bytes, encoding, bom) in cases {
            let file = TextFile::decode(&bytes).unwrap();
            assert_eq!((file.text.as_str(), file.encoding, file.bom), (text, encoding, bom));
            assert_eq!(file.line_ending, LineEnding::CrLf);
            assert_eq!(file.encode(&file.text), bytes, "{encoding}");
            assert!(!bom || file.encode(&format!("\u{FEFF}{text}")) == bytes, "the mark is not doubled");
        }
    }

    #[test]
    fn line_endings() {
        let cases = [
            ("", LineEnding::Lf),
            ("a", LineEnding::Lf),
            ("a\nb\n", LineEnding::Lf),
            ("a\r\nb", LineEnding::CrLf),
            ("a\r\nb\n", LineEnding::Mixed),
            ("a\rb", LineEnding::Lf),
        ];
        for (text, expected) in cases {
            assert_eq!(LineEnding::of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_text_says_what_and_where() {
        let binary = |bytes: &[u8]| TextFile::decode(bytes).unwrap_err();
        assert_eq!(binary(b"\x89PNG\r\n\x1a\n\0"), TextError::Binary { kind: Some("PNG image") });
        assert_eq!(binary(b"ab\0c"), TextError::Binary { kind: None });
        assert_eq!(binary(b"\xff\xfe\0\0a\0\0\0"), TextError::Binary { kind: Some("UTF-32 text") });
        let undecodable = |encoding, offset| TextError::Undecodable { encoding, offset };
        assert_eq!(binary(b"caf\xe9 cr\xe8me"), undecodable(Encoding::Utf8, 3));
        assert_eq!(binary(b"\xEF\xBB\xBFab\xc3"), undecodable(Encoding::Utf8, 5));
        assert_eq!(binary(b"\xff\xfea\0b"), undecodable(Encoding::Utf16Le, 4));
        assert_eq!(binary(b"\xff\xfe\x00\xdca\0"), undecodable(Encoding::Utf16Le, 2));
        assert_eq!(binary(b"\xfe\xff\xd8\x00\0a"), undecodable(Encoding::Utf16Be, 2));
        assert!(binary(b"caf\xe9").to_string().contains("not valid UTF-8 at byte 3"));
    }

    #[test]
    fn a_sequence_cut_anywhere_between_pieces_is_whole() {
        let text = "aé漢🦀z";
        for (bytes, encoding, mark) in
            [(text.as_bytes().to_vec(), Encoding::Utf8, 0), (utf16(text, false), Encoding::Utf16Le, 2)]
        {
            for cut in mark..=bytes.len() {
                let mut decoder = Decoder::new(encoding, mark);
                let mut out = String::new();
                decoder.decode(&bytes[mark..cut], false, &mut out).unwrap();
                decoder.decode(&bytes[cut..], true, &mut out).unwrap();
                assert_eq!(out, text, "{encoding} cut at {cut}");
            }
        }
    }
}
