//! Pages of text: bounds, encodings, files that never end.

use super::*;

fn page(content: impl AsRef<[u8]>, first: u64, lines: usize) -> Page {
    let limits = PageLimits { lines, ..PageLimits::default() };
    read_page(content.as_ref(), first, &limits).unwrap()
}

fn texts(page: &Page) -> Vec<(u64, &str)> {
    page.lines.iter().map(|line| (line.number, page.text_of(line))).collect()
}

/// Reads forever, and counts how much was taken.
struct Endless<'a>(&'static [u8], &'a std::cell::Cell<u64>);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for (at, byte) in buffer.iter_mut().enumerate() {
            *byte = self.0[at % self.0.len()];
        }
        self.1.set(self.1.get() + buffer.len() as u64);
        Ok(buffer.len())
    }
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    type Case<'a> = (&'a str, &'a [(u64, &'a str)], u64);
    let cases: &[Case<'_>] = &[
        ("", &[], 0),
        ("\n", &[(1, "")], 1),
        ("a", &[(1, "a")], 1),
        ("a\n", &[(1, "a")], 1),
        ("a\n\nb", &[(1, "a"), (2, ""), (3, "b")], 3),
        ("a\r\nb\r\n", &[(1, "a"), (2, "b")], 2),
        ("a\rb\n", &[(1, "a\rb")], 1),
    ];
    for (content, lines, total) in cases {
        let page = page(content, 1, 2000);
        assert_eq!(texts(&page), *lines, "{content:?}");
        assert_eq!(page.total, LineCount::Exactly(*total), "{content:?}");
        assert_eq!((page.cut, page.crlf), (None, content.contains("\r\n")), "{content:?}");
    }
}

#[test]
fn a_page_from_the_middle_knows_what_surrounds_it() {
    let middle = page("1\n2\n3\n4\n5\n", 2, 2);
    assert_eq!(texts(&middle), [(2, "2"), (3, "3")]);
    assert_eq!((middle.total, middle.cut), (LineCount::Exactly(5), Some(PageBound::Lines)));
    let last = page("1\n2\n3", 3, 1);
    assert_eq!((texts(&last), last.cut), (vec![(3, "3")], None));
    let blank_follows = page("1\n\n", 1, 1);
    assert_eq!((blank_follows.cut, blank_follows.total), (Some(PageBound::Lines), LineCount::Exactly(2)));
    let past = page("1\n2\n", 9, 2);
    assert_eq!((texts(&past), past.total), (vec![], LineCount::Exactly(2)));
}

#[test]
fn a_page_ends_before_the_line_that_would_pass_its_bytes() {
    let limits = PageLimits { page_bytes: 10, ..PageLimits::default() };
    let page = read_page("aaaa\nbbbb\ncccc\n".as_bytes(), 1, &limits).unwrap();
    assert_eq!(texts(&page), [(1, "aaaa"), (2, "bbbb")]);
    assert_eq!((page.cut, page.total), (Some(PageBound::Bytes), LineCount::Exactly(3)));
}

#[test]
fn a_long_line_shows_its_beginning_and_counts_the_rest() {
    let long = format!("{}\r\nnext\n", "é".repeat(2345));
    let page = page(&long, 1, 2000);
    assert_eq!(page.text_of(&page.lines[0]), "é".repeat(2000));
    assert_eq!((page.lines[0].omitted_chars, page.lines[0].endless), (345, false));
    assert_eq!(texts(&page)[1], (2, "next"));
    let exact = read_page("x".repeat(2000).as_bytes(), 1, &PageLimits::default()).unwrap();
    assert_eq!(exact.lines[0].omitted_chars, 0);
}

#[test]
fn an_endless_line_costs_a_bounded_amount() {
    let taken = std::cell::Cell::new(0);
    let limits = PageLimits { count_bytes: 1024 * 1024, ..PageLimits::default() };
    let page = read_page(Endless(b"x", &taken), 1, &limits).unwrap();
    assert_eq!((page.lines.len(), page.lines[0].text.len()), (1, 2000));
    assert!(page.lines[0].endless);
    assert_eq!(page.total, LineCount::AtLeast(1));
    assert!(taken.get() < 1_400_000, "{}", taken.get());
}

#[test]
fn endless_lines_cost_a_bounded_amount() {
    let taken = std::cell::Cell::new(0);
    let limits = PageLimits { count_bytes: 1024 * 1024, skip_bytes: 1024 * 1024, ..PageLimits::default() };
    let page = read_page(Endless(b"yes\n", &taken), 1, &limits).unwrap();
    assert_eq!((page.lines.len(), page.cut), (2000, Some(PageBound::Lines)));
    assert!(matches!(page.total, LineCount::AtLeast(n) if n > 100_000), "{:?}", page.total);
    assert!(taken.get() < 1_400_000, "{}", taken.get());
    let far = read_page(Endless(b"yes\n", &taken), 1_000_000_000, &limits).unwrap_err();
    assert!(matches!(far, PageError::TooFar { line: 1_000_000_000, .. }), "{far}");
}

#[test]
fn other_encodings_and_bad_bytes() {
    let utf16: Vec<u8> = "\u{FEFF}ä\n🦀\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = page(utf16, 1, 10);
    assert_eq!((texts(&read), read.encoding), (vec![(1, "ä"), (2, "🦀")], Encoding::Utf16Le));
    assert_eq!(texts(&page("\u{FEFF}a\n", 1, 10)), [(1, "a")]);
    let bad = read_page(&b"ok\n\xff\n"[..], 1, &PageLimits::default()).unwrap_err();
    assert!(matches!(bad, PageError::Text(TextError::Undecodable { offset: 3, .. })), "{bad}");
    let later = [b"a\n".repeat(70_000).as_slice(), b"\xff\n"].concat();
    let limits = PageLimits { lines: 1, ..PageLimits::default() };
    assert_eq!(read_page(later.as_slice(), 1, &limits).unwrap().lines.len(), 1);
    let binary = read_page(&b"\x7fELF\0\0"[..], 1, &PageLimits::default()).unwrap_err();
    assert_eq!(binary.to_string(), "binary content (ELF executable or library)");
}

proptest::proptest! {
    /// Pages taken one after the other are the whole file, however it is cut.
    #[test]
    fn pages_together_are_the_file(text in "[aä\n]{0,60}", lines in 1_usize..5, page_bytes in 8_usize..20) {
        let limits = PageLimits { lines, page_bytes, line_chars: 4, ..PageLimits::default() };
        let (mut first, mut got) = (1, Vec::new());
        loop {
            let page = read_page(text.as_bytes(), first, &limits).unwrap();
            got.extend(page.lines.iter().map(|line| (page.text_of(line).to_owned(), line.omitted_chars)));
            assert_eq!(page.total, LineCount::Exactly(text.lines().count() as u64));
            let next = page.lines.last().map_or(first, |line| line.number + 1);
            if page.cut.is_none() {
                break;
            }
            assert!(next > first, "a page always goes on");
            first = next;
        }
        let expected: Vec<_> = text
            .lines()
            .map(|line| (line.chars().take(4).collect::<String>(), line.chars().count().saturating_sub(4) as u64))
            .collect();
        assert_eq!(got, expected);
    }
}
