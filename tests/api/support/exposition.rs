//! A reader of the Prometheus text format that is stricter than any scraper: what it takes is well formed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Client;

/// One scrape.
#[derive(Debug)]
pub(crate) struct Scrape {
    pub(crate) text: String,
    /// Name and type of each family.
    pub(crate) families: BTreeMap<String, String>,
    samples: HashMap<String, f64>,
}

impl Scrape {
    pub(crate) async fn of(client: &Client) -> Self {
        let answer = client.get("/metrics").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
        Self::parse(&answer.text())
    }

    /// The value of a series, such as `toolgate_calls_total{tool="Bash",status="denied"}`; 0 where it is not there.
    pub(crate) fn value(&self, series: &str) -> f64 {
        self.samples.get(series).copied().unwrap_or(0.0)
    }

    /// All values that a label has.
    pub(crate) fn label_values(&self, label: &str) -> HashSet<String> {
        let pairs = self.samples.keys().flat_map(|series| split(series).1);
        pairs.filter(|(name, _)| name == label).map(|(_, value)| value).collect()
    }

    /// The labels that the series of a family have, but for the bounds of buckets.
    pub(crate) fn labels_of(&self, family: &str) -> BTreeSet<String> {
        let own = |name: &str| {
            name == family || ["_bucket", "_sum", "_count"].iter().any(|end| name == format!("{family}{end}"))
        };
        let pairs = self.samples.keys().map(|series| split(series)).filter(|(name, _)| own(name));
        pairs.flat_map(|(_, labels)| labels).map(|(label, _)| label).filter(|label| label != "le").collect()
    }

    pub(crate) fn series(&self) -> impl Iterator<Item = &str> {
        self.samples.keys().map(String::as_str)
    }

    fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line ends");
        let (mut families, mut samples) = (BTreeMap::new(), HashMap::new());
        let (mut helped, mut current) = (HashSet::new(), String::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(!help.is_empty() && helped.insert(name.to_owned()), "{line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(helped.contains(name), "{name} has no help");
                check_name(name, kind);
                assert!(families.insert(name.to_owned(), kind.to_owned()).is_none(), "twice: {line}");
                name.clone_into(&mut current);
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
                let (name, _) = split(series);
                let histogram = families.get(&current).is_some_and(|kind| kind == "histogram");
                let own = name == current
                    || histogram
                        && ["_bucket", "_sum", "_count"].iter().any(|end| name == format!("{current}{end}"));
                assert!(own, "{series} stands among the samples of {current}");
                let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
                assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {series}");
            }
        }
        let scrape = Self { text: text.to_owned(), families, samples };
        scrape.check_histograms();
        scrape
    }

    /// Buckets grow, the last is the count, and each has a sum.
    fn check_histograms(&self) {
        let mut buckets: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for (series, value) in &self.samples {
            let (name, labels) = split(series);
            let Some(family) = name.strip_suffix("_bucket") else { continue };
            let (bounds, rest): (Vec<_>, Vec<_>) = labels.into_iter().partition(|(name, _)| name == "le");
            let bound = bounds[0].1.replace("+Inf", "inf").parse().unwrap();
            let rest: Vec<String> = rest.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            let place = if rest.is_empty() { String::new() } else { format!("{{{}}}", rest.join(",")) };
            buckets.entry(format!("{family} {place}")).or_default().push((bound, *value));
        }
        assert!(!buckets.is_empty());
        for (place, mut found) in buckets {
            let (family, labels) = place.split_once(' ').unwrap();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(found.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{place}: {found:?}");
            let last = found.last().unwrap();
            assert!(last.0.is_infinite(), "{place}");
            let count = self.samples[&format!("{family}_count{labels}")];
            assert!((last.1 - count).abs() < 0.5, "{place}");
            assert!(self.samples.contains_key(&format!("{family}_sum{labels}")), "{place}");
        }
    }
}

/// Names as Prometheus wants them: counters end in `_total`, and no other does.
fn check_name(name: &str, kind: &str) {
    let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    assert!(name.bytes().all(letters), "{name}");
    assert!(name.starts_with("toolgate_") || name.starts_with("process_"), "{name}");
    assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
}

/// Name and labels of a series.
fn split(series: &str) -> (&str, Vec<(String, String)>) {
    let Some((name, rest)) = series.split_once('{') else { return (series, Vec::new()) };
    let mut rest = rest.strip_suffix('}').unwrap_or_else(|| panic!("{series}"));
    let mut labels = Vec::new();
    while !rest.is_empty() {
        let (label, tail) = rest.split_once("=\"").unwrap_or_else(|| panic!("{series}"));
        let (mut value, mut escaped, mut end) = (String::new(), false, None);
        for (at, c) in tail.char_indices() {
            match (escaped, c) {
                (true, 'n') => value.push('\n'),
                (true, '\\' | '"') => value.push(c),
                (true, _) => panic!("a wrong escape: {series}"),
                (false, '"') => {
                    end = Some(at);
                    break;
                }
                (false, '\\') => {}
                (false, c) => value.push(c),
            }
            escaped = !escaped && c == '\\';
        }
        labels.push((label.to_owned(), value));
        let after = &tail[end.unwrap_or_else(|| panic!("{series}")) + 1..];
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    (name, labels)
}
