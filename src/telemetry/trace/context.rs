//! W3C Trace Context (Recommendation of 2021-11-23): read strictly, written in version 00.

/// The longest `tracestate` that is passed on, in bytes (section 3.3.1.5 asks for at least 512).
const STATE_BYTES_MAX: usize = 512;
/// The most members of a `tracestate` (section 3.3.1.1).
const STATE_MEMBERS_MAX: usize = 32;
/// The flags that are known: sampled, and that the trace id is random.
const FLAGS: u8 = 0b11;

/// Which trace something is a part of, and below which span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    pub(super) trace_id: String,
    pub(super) parent_id: String,
    pub(super) flags: u8,
    pub(super) state: Option<String>,
}

impl TraceContext {
    /// Reads the two headers. A `traceparent` that is not as section 3.2 says is as none; so is a
    /// `tracestate`, by itself.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let version = hex(traceparent.get(..2)?)?;
        let mut parts = traceparent.get(2..)?.strip_prefix('-')?.splitn(4, '-');
        let (trace_id, parent_id, flags) = (parts.next()?, parts.next()?, parts.next()?);
        // Later versions may say more; the first one has nothing after its flags.
        let more = parts.next().is_some();
        if version == 0xff || (version == 0 && more) || flags.len() != 2 {
            return None;
        }
        let id = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(is_hex) && text.bytes().any(|b| b != b'0')
        };
        if !id(trace_id, 32) || !id(parent_id, 16) {
            return None;
        }
        Some(Self {
            trace_id: trace_id.to_owned(),
            parent_id: parent_id.to_owned(),
            flags: hex(flags)? & FLAGS,
            state: tracestate.filter(|state| is_state(state)).map(str::to_owned),
        })
    }

    /// A context from ids that are known to be good.
    #[cfg(feature = "otel")]
    pub(super) fn of(trace_id: String, parent_id: String, flags: u8, state: String) -> Self {
        let state = Some(state).filter(|state| !state.is_empty());
        Self { trace_id, parent_id, flags: flags & FLAGS, state }
    }

    /// 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// As the header `traceparent` has it.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace_id, self.parent_id, self.flags)
    }

    /// As the header `tracestate` has it.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn hex(text: &str) -> Option<u8> {
    if text.bytes().all(is_hex) { u8::from_str_radix(text, 16).ok() } else { None }
}

/// Whether a `tracestate` is a list of members that can be passed on.
fn is_state(state: &str) -> bool {
    let member = |member: &str| {
        let (key, value) = member.split_once('=').unwrap_or_default();
        let of_key = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-*/@".contains(&b);
        let of_value = |b: u8| (b' '..=b'~').contains(&b) && b != b',' && b != b'=';
        !key.is_empty()
            && key.len() <= 256
            && key.bytes().all(of_key)
            && !value.is_empty()
            && value.bytes().all(of_value)
    };
    let members = state.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|it| !it.is_empty());
    state.len() <= STATE_BYTES_MAX
        && (1..=STATE_MEMBERS_MAX).contains(&members.clone().count())
        && members.clone().all(member)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn only_what_the_recommendation_allows_is_read() {
        for (good, written) in [
            (format!("00-{TRACE}-{SPAN}-01"), "01"),
            (format!("00-{TRACE}-{SPAN}-00"), "00"),
            (format!("00-{TRACE}-{SPAN}-ff"), "03"),
            (format!("cc-{TRACE}-{SPAN}-01-what-comes-later"), "01"),
        ] {
            let context = TraceContext::parse(&good, None).unwrap_or_else(|| panic!("{good}"));
            assert_eq!(context.traceparent(), format!("00-{TRACE}-{SPAN}-{written}"));
            assert_eq!(context.trace_id(), TRACE);
        }
        for bad in [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}x-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-0x"),
            format!("00-{TRACE}-{SPAN}-+1"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("é-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01\n"),
        ] {
            assert_eq!(TraceContext::parse(&bad, None), None, "{bad:?}");
        }
    }

    #[test]
    fn a_wrong_state_is_left_out_by_itself() {
        let state = |state: &str| {
            let context = TraceContext::parse(&format!("00-{TRACE}-{SPAN}-01"), Some(state)).unwrap();
            context.tracestate().map(str::to_owned)
        };
        for good in ["a=1", "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE", "t@v=x y"] {
            assert_eq!(state(good).as_deref(), Some(good));
        }
        let many = vec!["a=1"; 33].join(",");
        let long = format!("a={}", "x".repeat(600));
        for bad in ["", "a", "=1", "a=", "A=1", "a=1\nb=2", "a=é", "a=b=c", &many, &long] {
            assert_eq!(state(bad), None, "{bad:?}");
        }
    }
}
