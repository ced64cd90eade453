//! Grep over a large tree against ripgrep started for the same search.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use crate::Plan;
use crate::client::Client;
use crate::servers::Toolgate;
use crate::table::{Row, median, print};

const FILES_A_FOLDER: usize = 50;
/// One file in so many has the word.
const HAYSTACK: usize = 100;

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    let tree = toolgate.workspace().join("tree");
    plant(&tree, plan.files);
    let mut client = Client::connect(toolgate.address);
    for (mode, flag) in [("files_with_matches", "-l"), ("count", "-c")] {
        let arguments = json!({"pattern": "needle_[0-9]+", "path": "tree", "output_mode": mode});
        let mut request = toolgate.requests("Grep", &arguments);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds {
            let start = Instant::now();
            client.exchange(&request.next(), b"needle_free.txt");
            ours.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            ripgrep(&tree, flag);
            theirs.push(start.elapsed().as_secs_f64());
        }
        let what = format!("Grep ({mode}), {} files", plan.files);
        print(&Row::durations(what, median(ours), ("rg", median(theirs)), "1.2"));
    }
}

fn plant(tree: &Path, files: usize) {
    let text = "some words of a line that has nothing in it\n".repeat(90);
    for number in 0..files {
        let folder = tree.join(format!("folder{}", number / FILES_A_FOLDER));
        if number.is_multiple_of(FILES_A_FOLDER) {
            fs::create_dir_all(&folder).expect("a folder");
        }
        let word = if number.is_multiple_of(HAYSTACK) { "needle_42\n" } else { "" };
        let name = if number == 0 { "needle_free.txt".to_owned() } else { format!("{number}.txt") };
        fs::write(folder.join(name), format!("{text}{word}")).expect("a file");
    }
}

fn ripgrep(tree: &Path, flag: &str) {
    let output = Command::new("rg")
        .args(["--no-config", flag, "needle_[0-9]+"])
        .arg(tree)
        .stdin(Stdio::null())
        .output()
        .expect("ripgrep is installed: apt-get install ripgrep");
    assert!(output.status.success() && !output.stdout.is_empty());
}
