//! Several threads: the walk's order, bounds, ends that are told.

use super::*;
use crate::permission::Hidden;
use crate::tools::blocking::Patience;
use crate::workspace::Workspace;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

struct Tree {
    _dir: tempfile::TempDir,
    workspace: Workspace,
    top: Located,
}

fn tree(folders: usize, files: usize) -> Tree {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in 0..folders {
        let folder = root.join(format!("d{folder:03}"));
        std::fs::create_dir(&folder).unwrap();
        (0..files).for_each(|file| std::fs::write(folder.join(format!("f{file:03}")), "").unwrap());
    }
    let workspace = Workspace::open(&root).unwrap();
    let top = workspace.resolve(&root, ".").unwrap();
    Tree { _dir: dir, workspace, top }
}

impl Tree {
    fn walked(
        &self,
        cancel: CancellationToken,
        look: &(dyn Fn(&str) + Sync),
        merge: &mut dyn FnMut(Vec<String>),
    ) -> Result<Skipped, SearchError> {
        let patience = Patience::new(cancel, Duration::from_mins(5));
        let hidden = Hidden::default();
        let walk =
            Walk { workspace: &self.workspace, hidden: &hidden, patience: &patience, include_ignored: false };
        let looker = || {
            let look = |batch: &Batch, skipped: &mut Skipped| {
                let mut names = Vec::new();
                for run in batch {
                    walk.sift(run, skipped, &mut |seen, _| {
                        let path = seen.place.real.strip_prefix(self.workspace.root()).unwrap();
                        look(path.to_str().unwrap());
                        names.push(path.to_str().unwrap().to_owned());
                        Ok(())
                    })?;
                }
                Ok(names)
            };
            Box::new(look) as Looks<'_, _>
        };
        together(&walk, &self.top, &looker, &mut |_, part, _| {
            merge(part);
            Ok(())
        })
    }
}

#[test]
fn the_order_is_the_walks_whoever_looked() {
    for (folders, files) in [(0, 0), (1, 1), (3, 200), (300, 1), (40, 30)] {
        let tree = tree(folders, files);
        let mut seen = Vec::new();
        tree.walked(CancellationToken::new(), &|_| {}, &mut |part| seen.extend(part)).unwrap();
        let every = (0..folders).flat_map(|d| (0..files).map(move |f| format!("d{d:03}/f{f:03}")));
        assert_eq!(seen, every.collect::<Vec<_>>());
        assert_eq!(seen.len(), folders * files);
    }
}

#[test]
fn the_walk_is_never_far_ahead_of_what_is_merged() {
    let tree = tree(200, 20);
    let (looked, merged) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let furthest = AtomicUsize::new(0);
    let look = |_: &str| {
        let ahead = looked.fetch_add(1, Ordering::AcqRel) + 1 - merged.load(Ordering::Acquire);
        furthest.fetch_max(ahead, Ordering::AcqRel);
    };
    let mut merge = |part: Vec<String>| {
        merged.fetch_add(part.len(), Ordering::AcqRel);
    };
    tree.walked(CancellationToken::new(), &look, &mut merge).unwrap();
    // A batch is full with 64 entries, the last run of them may have 64 too.
    let bound = (HELPERS_MAX + 1) * AHEAD * 2 * RUN_ENTRIES + 2 * RUN_ENTRIES;
    assert!(furthest.into_inner() <= bound && bound < 200 * 20 * 2);
    assert_eq!(merged.into_inner(), 4000);
}

#[test]
fn a_cancelled_search_ends_on_all_threads() {
    let tree = tree(100, 20);
    let cancel = CancellationToken::new();
    let look = |name: &str| {
        if name.starts_with("d050") {
            cancel.cancel();
        }
    };
    let error = tree.walked(cancel.clone(), &look, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SearchError::GivenUp(GivenUp::Cancelled)), "{error:?}");
}

#[test]
fn a_helper_that_panics_is_told_to_the_walker() {
    let desk = Desk::<()>::default();
    desk.state().todo.push_back((0, Batch::new()));
    thread::scope(|scope| {
        let helper = scope.spawn(|| desk.help(Box::new(|_, _| panic!("meant"))));
        assert!(helper.join().is_err());
        let mut merge = |_: &Batch, (), _| Ok(());
        let look = Box::new(|_: &Batch, _: &mut Skipped| Ok(()));
        let mut walker = Walker { desk: &desk, look, merge: &mut merge, numbered: 1, merged: 0, threads: 2 };
        assert!(walker.merge_until(0).is_err());
    });
}
