//! Gives back the pages of the program that only its start needed.
//!
//! What a start touches, with what the kernel maps around it, stays in the resident set until memory is short, and is most
//! of what an idle server seems to hold. A page that is needed again is mapped anew out of the page cache.

#![expect(unsafe_code, reason = "madvise has no safe form for pages that this process has not mapped itself")]

use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Unmaps the program's code for now. Where that cannot be done all stays as it was.
pub(super) fn give_back() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    let here = give_back as fn() as usize;
    let Some(code) = maps.lines().filter_map(code).find(|range| range.contains(&here)) else { return };
    // SAFETY: the range is one mapping of the program file that cannot be written to (`r-xp`), so each page of it has
    // what the file has, and the kernel reads it from there when it is touched next. The file of a running program
    // cannot be written to (execve(2), ETXTBSY).
    let given = unsafe { madvise(code.start as *mut _, code.len(), Advice::LinuxDontNeed) };
    if let Err(error) = given {
        tracing::debug!(%error, "the pages of the start stay mapped");
    }
}

/// The addresses of a line of proc_pid_maps(5), where it speaks of code that nobody may change.
fn code(line: &str) -> Option<Range<usize>> {
    let mut fields = line.split(' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let is_code = fields.next()? == "r-xp";
    let address = |text| usize::from_str_radix(text, 16).ok();
    is_code.then_some(address(from)?..address(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(range: &Range<usize>) -> u64 {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let head = format!("{:x}-{:x} ", range.start, range.end);
        let mut lines = maps.lines().skip_while(|line| !line.starts_with(&head));
        let line = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Other threads of the test's process would map pages meanwhile, so it looks at one of its own.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the process is this test alone")]
    fn what_was_mapped_is_given_back_and_the_program_goes_on() {
        const ALONE: &str = "TOOLGATE_TEST_ALONE";
        const NAME: &str = "app::program_pages::tests::what_was_mapped_is_given_back_and_the_program_goes_on";
        if std::env::var_os(ALONE).is_none() {
            let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
            let done = alone.args([NAME, "--exact"]).env(ALONE, "1").output().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success() && said.contains("1 passed"), "{done:?}");
            return;
        }
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let here = give_back as fn() as usize;
        let own = maps.lines().filter_map(code).find(|range| range.contains(&here)).unwrap();
        // What this itself needs is mapped again.
        resident(&own);
        let before = resident(&own);
        give_back();
        let after = resident(&own);
        assert!(after < before, "{after} of {before} KiB");
    }

    #[test]
    fn lines_of_code_are_told_from_others() {
        assert!(code("7f00-7f10 rw-p 0 00:00 0 [heap]").is_none());
        assert_eq!(code("7f00-7f10 r-xp 00000000 08:01 12 /bin/x"), Some(0x7f00..0x7f10));
    }
}
