//! The processes beneath a process, read from `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Most characters of a command line that are kept.
const MAX_NAME_CHARS: usize = 120;

/// A process as the kernel listed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) parent: Pid,
    /// Its process group. Beneath a command that began its own session every group is of the tree.
    group: Option<Pid>,
}

/// All living descendants of `root`, without itself. Zombies are left out: they are gone but for their name.
///
/// The picture is as of some moment during the call: callers repeat until nothing is left.
pub(super) fn descendants(root: Pid) -> Vec<Process> {
    let children = children_by_parent();
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (child, alive) in children.get(&parent).map(Vec::as_slice).unwrap_or_default() {
            open.push(child.pid);
            if *alive {
                found.push(*child);
            }
        }
    }
    found
}

/// The same from the kernel's lists of children, for the price of the tree and not of every process of the machine.
/// Such a list may miss one while others end beside it (proc(5)): good for a look now and then, not for killing.
pub(super) fn descendants_at_a_glance(root: Pid) -> Vec<Process> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        let Some(children) = listed_children(parent) else {
            // It has ended; without such lists in this kernel, all processes have to be gone through.
            if parent == root {
                return descendants(root);
            }
            continue;
        };
        for pid in children {
            // Numbers are used again: none is looked at twice.
            if !seen.insert(pid) {
                continue;
            }
            open.push(pid);
            found.extend(stat(pid).filter(|stat| stat.alive).map(|stat| stat.process(pid)));
        }
    }
    found
}

/// The children that any thread of a process has; none where the kernel does not say.
fn listed_children(parent: Pid) -> Option<Vec<Pid>> {
    let threads = fs::read_dir(format!("/proc/{}/task", parent.as_raw_pid())).ok()?;
    let mut children = Vec::new();
    for thread in threads.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        children.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    Some(children)
}

/// The direct children of `parent`, zombies left out.
pub(super) fn children(parent: Pid) -> Vec<Process> {
    let children = children_by_parent().remove(&parent).unwrap_or_default();
    children.into_iter().filter(|(_, alive)| *alive).map(|(child, _)| child).collect()
}

fn children_by_parent() -> HashMap<Pid, Vec<(Process, bool)>> {
    let mut children: HashMap<Pid, Vec<(Process, bool)>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return children };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
        else {
            continue;
        };
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push((stat.process(pid), stat.alive));
        }
    }
    children
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: Pid,
    group: Option<Pid>,
    alive: bool,
}

impl Stat {
    fn process(&self, pid: Pid) -> Process {
        Process { pid, parent: self.parent, group: self.group }
    }
}

fn stat(pid: Pid) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?)
}

/// Parent, group and whether the process is alive. The name, second field, may hold anything, parentheses too.
fn parse_stat(stat: &[u8]) -> Option<Stat> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok().and_then(Pid::from_raw)?;
    let group = fields.next()?.parse().ok().and_then(Pid::from_raw);
    Some(Stat { parent, group, alive: !matches!(state, "Z" | "X") })
}

/// Sends a signal to each; one that has gone meanwhile does not matter.
pub(super) fn signal_all(processes: &[Process], signal: Signal) {
    for process in processes {
        signal_one(process.pid, signal);
    }
}

/// Sends a signal to one process, which may have gone meanwhile.
pub(super) fn signal_one(process: Pid, signal: Signal) {
    let _ = kill_process(process, signal);
}

/// Sends a signal to the group of each. The kernel reaches all members of a group at one moment: none of them
/// can fork past it.
pub(super) fn signal_groups(processes: &[Process], signal: Signal) {
    let groups: HashSet<Pid> = processes.iter().filter_map(|process| process.group).collect();
    for group in groups {
        let _ = kill_process_group(group, signal);
    }
}

/// The command line for a person to read: bounded, without control characters.
pub(super) fn name(pid: Pid) -> String {
    let number = pid.as_raw_pid();
    let mut line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    if line.is_empty() {
        line = fs::read(format!("/proc/{number}/comm")).unwrap_or_default();
    }
    line.truncate(MAX_NAME_CHARS * 4);
    let text = String::from_utf8_lossy(&line);
    let readable: String =
        text.trim_end_matches(['\0', '\n']).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut name: String = readable.chars().take(MAX_NAME_CHARS).collect();
    if name.len() < readable.len() {
        name.push('…');
    }
    name
}

/// The short name that the kernel knows the program by.
pub(super) fn short_name(pid: Pid) -> String {
    let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_pid())).unwrap_or_default();
    name.trim_end_matches('\n').to_owned()
}

/// Resident memory of the processes together, in bytes. Shared pages count for each.
pub(super) fn resident_bytes(processes: &[Process]) -> u64 {
    let page = rustix::param::page_size() as u64;
    processes
        .iter()
        .filter_map(|process| fs::read_to_string(format!("/proc/{}/statm", process.pid.as_raw_pid())).ok())
        .filter_map(|statm| {
            let mut fields = statm.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
            let (resident, shared) = (fields.next()?, fields.next()?);
            Some(resident.saturating_sub(shared) * page)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_field_cannot_forge_a_parent() {
        for (stat, expected) in [
            (&b"7 (bash) S 3 7 7 0"[..], Some((3, true))),
            (b"7 (a) Z 1 () ) R 42 7", Some((42, true))),
            (b"7 (x) Z 3 7", Some((3, false))),
            (b"7 (kernel) S 0 0", None),
            (b"", None),
            (b"7 (x", None),
        ] {
            let parsed = parse_stat(stat).map(|stat| (stat.parent.as_raw_pid(), stat.alive));
            assert_eq!(parsed, expected, "{}", String::from_utf8_lossy(stat));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a tree to look at")]
    fn a_glance_sees_the_whole_tree_and_no_more() {
        use std::io::BufRead as _;
        let script = "sleep 60 & (sleep 60 & echo ready; wait) & wait";
        let mut shell = std::process::Command::new("/bin/bash");
        let shell = shell.args(["-c", script]).stdout(std::process::Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let root = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let numbers = |tree: Vec<Process>| {
            let mut numbers: Vec<_> = tree.iter().map(|process| process.pid.as_raw_pid()).collect();
            numbers.sort_unstable();
            numbers
        };
        let all = numbers(descendants(root));
        let glance = numbers(descendants_at_a_glance(root));
        signal_all(&descendants(root), Signal::KILL);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((glance.len(), glance), (3, all));
        assert_eq!(descendants_at_a_glance(root), []);
    }

    #[test]
    fn this_process_has_a_name() {
        assert!(!name(rustix::process::getpid()).is_empty());
        let pid = rustix::process::getpid();
        let this = Process { pid, parent: pid, group: None };
        assert!(resident_bytes(&[this]) > 0);
    }
}
