//! What to do about a redirect: pure. The gate judged one host, so only that host is followed.

use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, HeaderMap, HeaderName,
};
use reqwest::{Method, StatusCode};

use super::request::Request;
use crate::domain::visible;

/// Headers that describe a body, and go with it.
const OF_BODY: [HeaderName; 4] = [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION];
/// The longest location that is shown, in characters.
const LOCATION_SHOWN: usize = 2_000;

/// What to do about an answer.
#[derive(Debug)]
pub(in crate::tools) enum Step {
    /// It is the answer.
    Stay,
    /// Ask again; `true` when what the caller had set stays behind.
    Follow(Box<Request>, bool),
    /// It leads where this call must not go.
    Tell(Redirect),
}

/// A redirect that is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Redirect {
    /// Where it leads, safe to show.
    pub(in crate::tools) url: String,
    /// Why it is not followed, and what to do.
    pub(in crate::tools) why: &'static str,
}

/// Reads an answer (RFC 9110, section 15.4).
pub(super) fn step(request: &Request, status: StatusCode, headers: &HeaderMap) -> Step {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Step::Stay;
    }
    let Some(location) = headers.get(reqwest::header::LOCATION) else { return Step::Stay };
    let text = String::from_utf8_lossy(location.as_bytes());
    let tell = |url: &str, why| Step::Tell(Redirect { url: visible::clipped(url, LOCATION_SHOWN), why });
    let Ok(url) = request.url.join(&text) else {
        return tell(&text, "it leads to nothing that this tool calls");
    };
    if url.host() != request.url.host() {
        return tell(url.url().as_str(), "it leads to another host: call that URL if you want it");
    }
    let mut next = Request { url, ..request.clone() };
    change_method(&mut next, status);
    if next.url.same_origin(&request.url) {
        return Step::Follow(Box::new(next), false);
    }
    let upgrade = !request.url.is_https() && next.url.is_https();
    let usual_ports = request.url.port() == 80 && next.url.port() == 443;
    if !upgrade || !usual_ports || next.body.is_some() {
        return tell(
            next.url.url().as_str(),
            "it leads to another origin of the host: call that URL if you want it",
        );
    }
    let left_behind = !next.headers.is_empty();
    next.headers.clear();
    Step::Follow(Box::new(next), left_behind)
}

/// 303 asks for the answer elsewhere; 301 and 302 do as well after a POST (RFC 9110, sections 15.4.2 to 15.4.4).
fn change_method(request: &mut Request, status: StatusCode) {
    let becomes_get = match status.as_u16() {
        303 => request.method != Method::HEAD,
        301 | 302 => request.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        request.method = Method::GET;
        request.body = None;
        for name in OF_BODY {
            request.headers.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::web::WebUrl;
    use bytes::Bytes;
    use reqwest::header::{AUTHORIZATION, HeaderValue, LOCATION};

    fn request(method: Method, url: &str) -> Request {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        let body = (method == Method::POST || method == Method::PUT).then(|| Bytes::from_static(b"body"));
        Request { method, headers, body, ..Request::get(WebUrl::parse(url).unwrap()) }
    }

    /// What becomes of a redirect: the next request, or where it leads.
    fn after(method: Method, from: &str, status: u16, location: &str) -> String {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_str(location).unwrap())]);
        match step(&request(method, from), StatusCode::from_u16(status).unwrap(), &headers) {
            Step::Stay => "stay".to_owned(),
            Step::Tell(redirect) => format!("tell {}", redirect.url),
            Step::Follow(next, left_behind) => {
                assert_eq!(left_behind, next.headers.get(AUTHORIZATION).is_none());
                assert!(next.body.is_some() || next.method != Method::POST);
                let names: Vec<&str> = next.headers.keys().map(HeaderName::as_str).collect();
                format!("{} {} {}", next.method, next.url, names.join(","))
            }
        }
    }

    #[test]
    fn the_same_origin_is_followed_and_nothing_else_but_its_upgrade() {
        let all = "authorization,content-type";
        for (from, location, becomes) in [
            ("http://a.example/x/y", "z", format!("GET http://a.example/x/z {all}")),
            ("http://a.example/", "//A.example.:80/z", format!("GET http://a.example./z {all}")),
            ("https://a.example:444/", "/z", format!("GET https://a.example:444/z {all}")),
            ("http://a.example/", "https://a.example/z", "GET https://a.example/z ".to_owned()),
            ("http://a.example:8080/", "https://a.example/z", "tell https://a.example/z".to_owned()),
            ("http://a.example/", "https://a.example:8443/z", "tell https://a.example:8443/z".to_owned()),
            ("http://a.example/", "http://a.example:81/z", "tell http://a.example:81/z".to_owned()),
            ("https://a.example/", "http://a.example/z", "tell http://a.example/z".to_owned()),
            ("http://a.example/", "http://b.example/z", "tell http://b.example/z".to_owned()),
            ("http://a.example/", "https://b.example/z", "tell https://b.example/z".to_owned()),
            ("http://a.example/", "//sub.a.example/z", "tell http://sub.a.example/z".to_owned()),
            ("http://a.example/", "http://169.254.169.254/x", "tell http://169.254.169.254/x".to_owned()),
            ("http://a.example/", "http://2852039166/x", "tell http://169.254.169.254/x".to_owned()),
            ("http://a.example/", "file:///etc/passwd", "tell file:///etc/passwd".to_owned()),
            ("http://a.example/", "http://u:p@a.example/", "tell http://u:p@a.example/".to_owned()),
            ("http://a.example/", "/\\b.example", "tell /\\b.example".to_owned()),
        ] {
            assert_eq!(after(Method::GET, from, 302, location), becomes, "{from} {location}");
        }
    }

    #[test]
    fn methods_change_as_the_status_says() {
        for (method, status, becomes) in [
            (Method::GET, 301, "GET"),
            (Method::GET, 303, "GET"),
            (Method::HEAD, 303, "HEAD"),
            (Method::HEAD, 302, "HEAD"),
            (Method::POST, 301, "GET"),
            (Method::POST, 302, "GET"),
            (Method::POST, 303, "GET"),
            (Method::POST, 307, "POST"),
            (Method::POST, 308, "POST"),
            (Method::PUT, 301, "PUT"),
            (Method::PUT, 303, "GET"),
            (Method::DELETE, 302, "DELETE"),
            (Method::GET, 200, "stay"),
            (Method::GET, 304, "stay"),
            (Method::GET, 300, "stay"),
        ] {
            let found = after(method.clone(), "http://a.example/", status, "/z");
            assert_eq!(found.split(' ').next().unwrap(), becomes, "{method} {status}");
        }
        // What describes a body that is left out is left out with it.
        assert!(after(Method::POST, "http://a.example/", 303, "/z").ends_with("/z authorization"));
        // A body is not sent to another origin by itself.
        let told = after(Method::POST, "http://a.example/", 307, "https://a.example/");
        assert_eq!(told, "tell https://a.example/");
        assert!(matches!(
            step(&request(Method::GET, "http://a.example/"), StatusCode::FOUND, &HeaderMap::new()),
            Step::Stay
        ));
    }
}
