//! What in a unified diff is a file's own text and what the diff says of it. Only a hunk's counts tell: a removed line
//! `-- a/x` looks like the head of a file.

/// The lines of a diff, each with whether it stands within a hunk, behind the sign that it has there.
pub fn lines(diff: &str) -> impl Iterator<Item = (&str, bool)> {
    // How many lines of the hunk are still to come, of the old text and of the new one.
    let mut left = (0_usize, 0_usize);
    diff.split_inclusive('\n').map(move |line| {
        let (old, new) = match line.as_bytes().first() {
            _ if left == (0, 0) => (0, 0),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b' ') => (1, 1),
            // `\ No newline at end of file`.
            Some(b'\\') => return (line, false),
            // Every line of a hunk has a sign: the rest of this one was left out.
            _ => (0, 0),
        };
        if (old, new) == (0, 0) {
            left = counts(line).unwrap_or_default();
            return (line, false);
        }
        left = (left.0.saturating_sub(old), left.1.saturating_sub(new));
        (line, true)
    })
}

/// How many lines a hunk has, of the old text and of the new one: `@@ -1,2 +1 @@`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}

/// What of a diff of several files is about the one that it calls so; none where no part is.
pub fn about(diff: &str, name: &str) -> Option<String> {
    let mut found = None::<String>;
    // Of the part that is being read: its text, whether it has its sides, from where it moves, and whether it is about
    // the file.
    let (mut part, mut has_sides, mut moved, mut wanted) = (String::new(), false, None::<String>, false);
    let mut end = |part: &mut String, wanted: &mut bool| {
        let text = std::mem::take(part);
        if std::mem::take(wanted) {
            found.get_or_insert_default().push_str(&text);
        }
    };
    for (line, within) in lines(diff) {
        if !within {
            let begins = ["diff --git ", "Binary files ", "[the diff of "];
            // A move has a head of its own, and sides where the text differs, too.
            let old_side = line.strip_prefix("--- ");
            let of_move =
                |side: &str| !has_sides && moved.is_some() && moved.as_deref() == side.strip_prefix("a/");
            if begins.iter().any(|begin| line.starts_with(begin))
                || old_side.is_some_and(|side| !of_move(side))
            {
                end(&mut part, &mut wanted);
                (has_sides, moved) = (false, None);
            }
            has_sides |= old_side.is_some();
            moved = line.strip_prefix("rename from ").map(str::to_owned).or(moved);
            let names = ["--- a/", "+++ b/", "rename from ", "rename to "];
            let called = names.iter().find_map(|side| line.strip_prefix(side));
            wanted |= called.is_some_and(|called| called.trim_end_matches('\n') == name);
        }
        part.push_str(line);
    }
    end(&mut part, &mut wanted);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVED: &str = "diff --git a/m b/n\nrename from m\nrename to n\n";

    #[test]
    fn of_a_diff_of_several_files_the_parts_of_one_are_found() {
        let x = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n";
        let y = "--- /dev/null\n+++ b/sub/y\n@@ -0,0 +1 @@\n+3\n\\ No newline at end of file\n";
        let edited = format!("{MOVED}--- a/m\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n");
        // The head of `z` in the text of another, as removed, added and unchanged lines.
        let forged =
            "--- a/w\n+++ b/w\n@@ -1,3 +1,4 @@\n--- a/z\n+++ b/z\n+@@ -1 +1 @@\n+-echo hi\n ++ b/z\n-x\n";
        let z = "--- a/z\n+++ b/z\n@@ -1 +1 @@\n--- a/old\n+touch evil\n";
        // Lines of the hunk were left out.
        let cut = "--- a/c\n+++ b/c\n@@ -1,9 +1,9 @@\n-1\n[16 more lines of this diff are not shown]\n";
        let gone = "Binary files a/b and /dev/null differ\n";
        let all =
            [x, cut, forged, MOVED, y, gone, y, &edited, z, "[the diff of v is not shown]\n", x].concat();
        for (name, parts) in [
            ("x", &[x, x][..]),
            ("sub/y", &[y, y]),
            ("y", &[]),
            ("v", &[]),
            ("w", &[forged]),
            ("c", &[cut]),
            ("z", &[z]),
            ("m", &[MOVED, &edited]),
            ("n", &[MOVED, &edited]),
        ] {
            let parts = parts.concat();
            assert_eq!(about(&all, name), (!parts.is_empty()).then_some(parts), "{name}");
        }
        assert_eq!(about("", "x"), None);
    }

    #[test]
    fn a_hunk_is_as_long_as_it_says() {
        let within = |diff: &str| lines(diff).map(|(_, within)| u8::from(within)).collect::<Vec<_>>();
        assert_eq!(
            within("--- a\n+++ b\n@@ -1 +1,2 @@\n--- x\n+++ y\n+z\n--- b\n+++ b\n"),
            [0, 0, 0, 1, 1, 1, 0, 0]
        );
        assert_eq!(within("@@ -1,9 +1,9 @@\n-1\n[8 more]\n--- b\n"), [0, 1, 0, 0]);
        assert_eq!(within("@@ -1,9 +1,9 @@\n-1\n@@ -20 +20 @@\n-2\n+3\n+4\n"), [0, 1, 0, 1, 1, 0]);
        assert_eq!(within("@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n"), [0, 1, 0, 1]);
        assert_eq!(within("@@ -1,x +1 @@\n-1\n"), [0, 0]);
    }
}
