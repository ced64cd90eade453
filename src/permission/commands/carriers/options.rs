//! Reads options as GNU getopt does: clusters, values attached or apart, long names shortened.

/// What a program's options are, as one text: an entry for each, its names with commas between them, and behind
/// them `:` where a value is needed or `?` where one may be attached. A name of one letter is a short option.
/// `#` stands for a number as an option (`-5`). An option is reported by the first of its names.
pub(super) type Spec = &'static str;

/// An option that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Given<'w> {
    pub(super) name: &'static str,
    pub(super) value: Option<&'w str>,
}

/// A line whose options are all known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line<'w> {
    pub(super) options: Vec<Given<'w>>,
    /// Where the operands stand among the words.
    pub(super) operands: Vec<usize>,
}

/// An option that the program's entry does not name, or a value that is missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown;

/// What the first operand does to what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It ends the options (`+` in getopt).
    Stops,
    /// Options may follow it.
    Permutes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Attached,
}

impl<'w> Line<'w> {
    /// Reads what follows the program's name.
    pub(super) fn read(words: &'w [String], spec: Spec, order: Order) -> Result<Self, Unknown> {
        let mut line = Self::default();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            if word == "--" {
                line.operands.extend(at..words.len());
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let (name, takes) = long_option(spec, name)?;
                let value = match (takes, value) {
                    (Takes::Nothing, Some(_)) => return Err(Unknown),
                    (Takes::Value, None) => Some(words.get(at).ok_or(Unknown)?.as_str()),
                    (_, value) => value,
                };
                at += usize::from(takes == Takes::Value && !word.contains('='));
                line.options.push(Given { name, value });
            } else if let Some(cluster) = word.strip_prefix('-').filter(|c| !c.is_empty()) {
                at += usize::from(line.cluster(cluster, spec, words.get(at).map(String::as_str))?);
            } else if order == Order::Stops {
                line.operands.extend(at - 1..words.len());
                break;
            } else {
                line.operands.push(at - 1);
            }
        }
        Ok(line)
    }

    /// Reads `-abc`; whether the next word is the value of its last letter.
    fn cluster(&mut self, cluster: &'w str, spec: Spec, next: Option<&'w str>) -> Result<bool, Unknown> {
        if cluster.bytes().all(|b| b.is_ascii_digit()) && spec.split(' ').any(|e| e == "#") {
            return Ok(false);
        }
        for (at, letter) in cluster.char_indices() {
            let (name, takes) = short_option(spec, letter).ok_or(Unknown)?;
            let rest = &cluster[at + letter.len_utf8()..];
            let attached = (!rest.is_empty()).then_some(rest);
            match takes {
                Takes::Nothing => self.options.push(Given { name, value: None }),
                Takes::Attached => {
                    self.options.push(Given { name, value: attached });
                    return Ok(false);
                }
                Takes::Value => {
                    let value = attached.or(next).ok_or(Unknown)?;
                    self.options.push(Given { name, value: Some(value) });
                    return Ok(attached.is_none());
                }
            }
        }
        Ok(false)
    }

    /// Whether the option was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.name == name)
    }

    /// The values that were given to the option.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &'w str> {
        self.options.iter().filter(move |o| o.name == name).filter_map(|o| o.value)
    }

    /// The words from the operand at `skip` on; empty when there are not as many.
    pub(super) fn from<'a>(&self, skip: usize, words: &'a [String]) -> &'a [String] {
        self.operands.get(skip).map_or(&[], |at| &words[*at..])
    }

    /// The operands by themselves.
    pub(super) fn operand_words(&self, words: &[String]) -> Vec<String> {
        self.operands.iter().map(|at| words[*at].clone()).collect()
    }
}

fn entries(spec: Spec) -> impl Iterator<Item = (&'static str, Takes)> {
    spec.split_ascii_whitespace().map(|entry| {
        if let Some(names) = entry.strip_suffix(':') {
            (names, Takes::Value)
        } else if let Some(names) = entry.strip_suffix('?') {
            (names, Takes::Attached)
        } else {
            (entry, Takes::Nothing)
        }
    })
}

fn first(names: &'static str) -> &'static str {
    names.split(',').next().unwrap_or(names)
}

fn short_option(spec: Spec, letter: char) -> Option<(&'static str, Takes)> {
    let is_it = |name: &str| name.chars().eq([letter]);
    let found = entries(spec).find(|(names, _)| names.split(',').any(is_it))?;
    Some((first(found.0), found.1))
}

/// The option that a long name means: spelt in full, or so that one alone begins with it.
fn long_option(spec: Spec, given: &str) -> Result<(&'static str, Takes), Unknown> {
    let long = |names: &'static str| names.split(',').filter(|name| name.len() > 1);
    if let Some(found) = entries(spec).find(|(names, _)| long(names).any(|name| name == given)) {
        return Ok((first(found.0), found.1));
    }
    let mut begun = entries(spec).filter(|(names, _)| long(names).any(|name| name.starts_with(given)));
    match (begun.next(), begun.next()) {
        (Some((names, takes)), None) => Ok((first(names), takes)),
        _ => Err(Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: Spec = "a,all v n,number: color? e,eof? output: outline #";

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_spelling_of_an_option_is_read() {
        for (text, options, operands) in [
            ("p -a x", &[("a", None)][..], &[2][..]),
            ("p --all x", &[("a", None)], &[2]),
            ("p --al x", &[("a", None)], &[2]),
            ("p -av x", &[("a", None), ("v", None)], &[2]),
            ("p -n 5 x", &[("n", Some("5"))], &[3]),
            ("p -n5 x", &[("n", Some("5"))], &[2]),
            ("p -avn5 x", &[("a", None), ("v", None), ("n", Some("5"))], &[2]),
            ("p -an 5 x", &[("a", None), ("n", Some("5"))], &[3]),
            ("p --number=5 x", &[("n", Some("5"))], &[2]),
            ("p --nu 5 x", &[("n", Some("5"))], &[3]),
            ("p --color x", &[("color", None)], &[2]),
            ("p --color=always x", &[("color", Some("always"))], &[2]),
            ("p -ex y", &[("e", Some("x"))], &[2]),
            ("p -5 x", &[], &[2]),
            ("p -- -a", &[], &[2]),
            ("p - -a", &[], &[1, 2]),
        ] {
            let words = words(text);
            let line = Line::read(&words, SPEC, Order::Stops).unwrap();
            let got: Vec<_> = line.options.iter().map(|o| (o.name, o.value)).collect();
            assert_eq!(got, options, "{text}");
            assert_eq!(line.operands, operands, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_or_means_two_things_is_said() {
        for text in ["p -x", "p -ax", "p --nope", "p --out=x", "p -n", "p --number", "p --all=x"] {
            assert_eq!(Line::read(&words(text), SPEC, Order::Stops), Err(Unknown), "{text}");
        }
    }

    #[test]
    fn options_may_follow_operands_where_the_program_permutes() {
        let words = words("p x -a y -- -v");
        let line = Line::read(&words, SPEC, Order::Permutes).unwrap();
        assert!(line.has("a") && !line.has("v"));
        assert_eq!(line.operand_words(&words), ["x", "y", "-v"]);
    }
}
