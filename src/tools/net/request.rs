//! A request that a tool makes: what its caller may set of it, and what not.

use std::collections::BTreeMap;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::domain::visible;
use crate::domain::web::WebUrl;

/// The most headers that a caller sets.
pub(in crate::tools) const HEADERS_MAX: usize = 64;
/// The most bytes that they have together.
const HEADER_BYTES_MAX: usize = 32 * 1024;

/// Headers that belong to the connection, that say who is called or how the body is framed, or that only the
/// client can keep its word on (RFC 9110, sections 7.2, 7.6.1, 8.6 and 10.1.1).
const FORBIDDEN: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
    "expect",
    "accept-encoding",
];

/// A request.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Request {
    pub(in crate::tools) method: Method,
    pub(in crate::tools) url: WebUrl,
    /// The media types that are wanted, unless the caller says.
    pub(in crate::tools) accept: &'static str,
    /// What the caller set: it goes to the URL's origin alone.
    pub(in crate::tools) headers: HeaderMap,
    pub(in crate::tools) body: Option<Bytes>,
}

/// Why a header cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::tools) enum RequestError {
    #[error("headers: {0:?} is no header's name (letters, digits and -)")]
    Name(String),
    #[error("headers: the value of {0:?} has a line break or another control character")]
    Value(String),
    #[error("headers: {0:?} is set by Toolgate; leave it out")]
    Forbidden(String),
    #[error("headers: {0:?} is there twice")]
    Twice(String),
    #[error("headers: at most {HEADERS_MAX} with {HEADER_BYTES_MAX} bytes together")]
    TooMany,
}

impl Request {
    /// A request without anything set.
    pub(in crate::tools) fn get(url: WebUrl) -> Self {
        Self { method: Method::GET, url, accept: "*/*", headers: HeaderMap::new(), body: None }
    }

    /// Sets headers; names are compared without case.
    pub(in crate::tools) fn with_headers(
        mut self,
        given: &BTreeMap<String, String>,
    ) -> Result<Self, RequestError> {
        let bytes: usize = given.iter().map(|(name, value)| name.len() + value.len()).sum();
        if given.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
            return Err(RequestError::TooMany);
        }
        for (name, value) in given {
            let shown = || visible::clipped(name, 100);
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| RequestError::Name(shown()))?;
            if FORBIDDEN.contains(&header.as_str()) || header.as_str().starts_with("proxy-") {
                return Err(RequestError::Forbidden(shown()));
            }
            let value = HeaderValue::from_str(value).map_err(|_| RequestError::Value(shown()))?;
            if self.headers.insert(header, value).is_some() {
                return Err(RequestError::Twice(shown()));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_could_change_who_is_asked_or_what_is_read_are_refused() {
        let request = || Request::get(WebUrl::parse("http://a.example/").unwrap());
        let set = |name: &str, value: &str| {
            request()
                .with_headers(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
                .map(|r| r.headers.len())
        };
        for (name, value) in
            [("Accept", "text/html"), ("authorization", "Bearer x"), ("X-A", ""), ("Cookie", "a=b; c=d")]
        {
            assert_eq!(set(name, value), Ok(1), "{name}");
        }
        for name in [
            "Host",
            "HOST",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
            "Proxy-Authorization",
            "proxy-connection",
            "Accept-Encoding",
        ] {
            assert_eq!(set(name, "x"), Err(RequestError::Forbidden(name.to_owned())));
        }
        for name in ["", "a b", "a:b", "a\r\nHost", "\u{fc}", "Host "] {
            assert!(matches!(set(name, "x"), Err(RequestError::Name(_))), "{name:?}");
        }
        for value in ["a\r\nHost: evil", "a\nb", "a\0b", "a\rb"] {
            assert!(matches!(set("X-A", value), Err(RequestError::Value(_))), "{value:?}");
        }
        let twice = BTreeMap::from([("x-a".to_owned(), String::new()), ("X-A".to_owned(), String::new())]);
        assert!(matches!(request().with_headers(&twice), Err(RequestError::Twice(_))));
        let many = (0..=HEADERS_MAX).map(|n| (format!("x-{n}"), String::new())).collect();
        assert!(matches!(request().with_headers(&many), Err(RequestError::TooMany)));
        assert_eq!(set("X-A", &"x".repeat(HEADER_BYTES_MAX)), Err(RequestError::TooMany));
    }
}
