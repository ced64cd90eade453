//! What a body is: HTML, other text in some character set, or something that is no text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

/// How much of a page is searched for the character set that it declares (HTML Standard, section 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;

/// What a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Content {
    /// The media type without parameters, lower case; empty where the server names none.
    pub(in crate::tools) media_type: String,
    /// Its kind.
    pub(in crate::tools) form: Form,
    charset: Option<&'static Encoding>,
}

/// The kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Form {
    Html,
    Text,
    Binary,
}

/// Decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Text {
    pub(in crate::tools) content: String,
    /// The name of the character set (Encoding Standard).
    pub(in crate::tools) charset: &'static str,
    /// Some of it could not be decoded and is U+FFFD.
    pub(in crate::tools) lossy: bool,
}

impl Content {
    /// Finds out by the headers, and by the first bytes where the headers say nothing.
    pub(in crate::tools) fn of(headers: &HeaderMap, first: &[u8]) -> Self {
        let declared = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let declared = declared.unwrap_or_default();
        let mut parts = declared.split(';');
        let media_type = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts
            .filter_map(|part| part.trim().split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()));
        // An encoding that is left was not asked for, and hides what the body is.
        let encoded = headers.get_all(CONTENT_ENCODING).iter().any(|value| value != "identity");
        let form = if encoded { Form::Binary } else { form(&media_type, charset, first) };
        Self { media_type, form, charset }
    }

    /// The bytes as text; `cut` says that they may end amid a character.
    pub(in crate::tools) fn decode(&self, bytes: &[u8], cut: bool) -> Text {
        let (charset, bom) = match Encoding::for_bom(bytes) {
            Some((charset, length)) => (charset, length),
            None => {
                (self.charset.or_else(|| self.declared_inside(bytes)).unwrap_or_else(|| guess(bytes, cut)), 0)
            }
        };
        let mut decoder = charset.new_decoder_without_bom_handling();
        let rest = bytes.get(bom..).unwrap_or_default();
        let room = decoder.max_utf8_buffer_length(rest.len()).unwrap_or(0);
        let mut text = String::with_capacity(room);
        // Without the last call a character that is cut in two is left out, not replaced.
        let (_, _, lossy) = decoder.decode_to_string(rest, &mut text, !cut);
        text.shrink_to_fit();
        Text { content: text, charset: charset.name(), lossy }
    }

    /// What `<meta charset>` of a page says; UTF-16 cannot be said that way.
    fn declared_inside(&self, bytes: &[u8]) -> Option<&'static Encoding> {
        if self.form != Form::Html {
            return None;
        }
        let head = String::from_utf8_lossy(bytes.get(..PRESCAN_BYTES).unwrap_or(bytes)).to_ascii_lowercase();
        let metas = head.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
        let label = metas.filter_map(|meta| meta.split_once("charset")).find_map(|(_, rest)| {
            let value = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
            value.split(['"', '\'', ';', ' ', '/']).next()
        })?;
        let charset = Encoding::for_label(label.as_bytes())?;
        Some(if charset.is_ascii_compatible() { charset } else { UTF_8 })
    }
}

fn form(media_type: &str, charset: Option<&'static Encoding>, first: &[u8]) -> Form {
    let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
    let textual = kind == "text"
        || subtype.ends_with("+json")
        || subtype.ends_with("+xml")
        || subtype.ends_with("+yaml")
        || matches!(kind, "application")
            && matches!(
                subtype.strip_prefix("x-").unwrap_or(subtype),
                "json"
                    | "xml"
                    | "javascript"
                    | "ecmascript"
                    | "typescript"
                    | "yaml"
                    | "toml"
                    | "sql"
                    | "graphql"
                    | "ndjson"
                    | "jsonl"
                    | "json-seq"
                    | "www-form-urlencoded"
                    | "sh"
                    | "httpd-php"
                    | "tex"
            );
    let decoded =
        charset.is_some_and(|charset| !charset.is_ascii_compatible()) || Encoding::for_bom(first).is_some();
    let is_text = decoded || !first.iter().any(|byte| *byte < 0x20 && !b"\t\n\r\x0b\x0c\x1b".contains(byte));
    let looks_html = || {
        let start = first.get(..512).unwrap_or(first).trim_ascii_start().to_ascii_lowercase();
        start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
    };
    match media_type {
        "text/html" | "application/xhtml+xml" if is_text => Form::Html,
        _ if textual && is_text => Form::Text,
        "" if is_text && looks_html() => Form::Html,
        "" | "application/octet-stream" | "binary/octet-stream" if is_text && is_utf8(first, true) => {
            Form::Text
        }
        _ => Form::Binary,
    }
}

fn guess(bytes: &[u8], cut: bool) -> &'static Encoding {
    if is_utf8(bytes, cut) { UTF_8 } else { WINDOWS_1252 }
}

/// Whether it is UTF-8, perhaps cut amid its last character.
fn is_utf8(bytes: &[u8], cut: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => cut && error.error_len().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn content(declared: &str, first: &[u8]) -> Content {
        let mut headers = HeaderMap::new();
        if !declared.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_str(declared).unwrap());
        }
        Content::of(&headers, first)
    }

    #[test]
    fn what_a_body_is() {
        for (declared, first, form) in [
            ("text/html; charset=utf-8", &b"<p>"[..], Form::Html),
            ("Text/HTML", b"", Form::Html),
            ("application/xhtml+xml", b"<html>", Form::Html),
            ("text/plain", b"x", Form::Text),
            ("text/plain", b"\x1b[31mx", Form::Text),
            ("text/plain", b"\0\0ELF", Form::Binary),
            ("text/plain; charset=utf-16le", b"x\0", Form::Text),
            ("application/json", b"{}", Form::Text),
            ("application/problem+json", b"{}", Form::Text),
            ("application/x-yaml", b"a: b", Form::Text),
            ("image/svg+xml", b"<svg>", Form::Text),
            ("image/png", b"x", Form::Binary),
            ("application/pdf", b"%PDF", Form::Binary),
            ("application/octet-stream", b"plain", Form::Text),
            ("application/octet-stream", b"\x7fELF\x01\0", Form::Binary),
            ("application/octet-stream", b"caf\xe9 x", Form::Binary),
            ("", b" <!DOCTYPE html><p>", Form::Html),
            ("", b"plain", Form::Text),
            ("", b"\x89PNG\r\n\x1a\n\0", Form::Binary),
            ("nonsense", b"x", Form::Binary),
        ] {
            assert_eq!(content(declared, first).form, form, "{declared:?} {first:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
        assert_eq!(Content::of(&headers, b"x").form, Form::Binary);
    }

    #[test]
    fn text_is_decoded_by_mark_header_page_and_guess() {
        for (declared, bytes, cut, text, charset, lossy) in [
            ("text/plain", "gr\u{fc}n".as_bytes(), false, "gr\u{fc}n", "UTF-8", false),
            ("text/plain; charset=iso-8859-1", b"gr\xfcn", false, "gr\u{fc}n", "windows-1252", false),
            ("text/plain; charset=\"Shift_JIS\"", b"\x93\xfa", false, "\u{65e5}", "Shift_JIS", false),
            ("text/plain", b"gr\xfcn", false, "gr\u{fc}n", "windows-1252", false),
            ("text/plain; charset=utf-8", b"gr\xfcn", false, "gr\u{fffd}n", "UTF-8", true),
            ("text/plain; charset=nonsense", b"x", false, "x", "UTF-8", false),
            ("text/plain; charset=latin1", b"\xef\xbb\xbfx", false, "x", "UTF-8", false),
            ("text/plain", b"\xff\xfex\0", false, "x", "UTF-16LE", false),
            ("text/plain", b"\xe6\x97", true, "", "UTF-8", false),
            ("text/plain", b"x\xe6\x97", false, "x\u{e6}\u{2014}", "windows-1252", false),
            (
                "text/html",
                b"<meta charset=\"koi8-r\">\xc1",
                false,
                "<meta charset=\"koi8-r\">\u{430}",
                "KOI8-R",
                false,
            ),
            (
                "text/html",
                b"<meta http-equiv=content-type content='text/html; charset=latin1'>\xfc",
                false,
                "<meta http-equiv=content-type content='text/html; charset=latin1'>\u{fc}",
                "windows-1252",
                false,
            ),
            ("text/html", b"<meta charset=utf-16>x", false, "<meta charset=utf-16>x", "UTF-8", false),
        ] {
            let found = content(declared, bytes).decode(bytes, cut);
            assert_eq!(found, Text { content: text.to_owned(), charset, lossy }, "{declared} {bytes:?}");
        }
    }
}
