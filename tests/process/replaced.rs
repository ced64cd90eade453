//! Files of the server's that are replaced while commands run stay out of their reach, before and after.

use std::path::{Path, PathBuf};

use toolgate::process::{Launcher, LauncherOptions, RunningCommand};
use toolgate::sandbox::FloorChoice;

use crate::support::{Place, finish, program, read_until};

const FLOORS: [FloorChoice; 2] = [FloorChoice::Landlock, FloorChoice::Bubblewrap];
const OLD: &str = "the-old-secret";
const NEW: &str = "the-new-secret";

/// A launcher that hides a file, and keeps the folder above the workspace usable.
async fn launcher(place: &Place, floor: FloorChoice, file: &Path) -> Launcher {
    Launcher::start(LauncherOptions {
        program: program(),
        floor,
        hidden: vec![place.path("data")],
        files: vec![file.to_owned()],
        needed: vec![place.path("work")],
        ..LauncherOptions::default()
    })
    .await
    .unwrap()
}

/// A command that waits for `go` in its directory, then shows all it can find beneath `folder`.
async fn waiting(launcher: &Launcher, place: &Place, folder: &Path, go: &str) -> RunningCommand {
    let folder = folder.display();
    let text = format!(
        "echo ready; until [ -e {go} ]; do sleep 0.02; done; grep -ra secret {folder} 2>/dev/null; \
         cat {folder}/* {folder}/..data/* {folder}/..*/* {folder}/config.json 2>/dev/null; echo over"
    );
    let mut running = launcher.spawn(place.command(&text)).await.unwrap();
    read_until(&mut running, "ready\n").await;
    running
}

/// What commands see of a file: one that runs since before it is replaced, one that starts while the new file lies
/// beside it under another name, one that starts after.
async fn unseen(floor: FloorChoice, place: &Place, file: &Path, lay: impl Fn(&Path), put: impl Fn(&Path)) {
    let folder = file.parent().unwrap();
    let launcher = launcher(place, floor, file).await;
    let before = waiting(&launcher, place, folder, "go").await;
    lay(folder);
    let between = waiting(&launcher, place, folder, "go").await;
    put(folder);
    let after = waiting(&launcher, place, folder, "go").await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), NEW, "it was replaced");
    std::fs::write(place.path("work/go"), "").unwrap();
    for (when, running) in [("before", before), ("between", between), ("after", after)] {
        let (output, _) = finish(running).await;
        assert!(output.ends_with("over\n"), "{floor:?} {when}: {output}");
        assert!(!output.contains(OLD) && !output.contains(NEW), "{floor:?}, started {when}: {output}");
    }
    launcher.stop().await;
}

fn rename_over(folder: &Path) {
    std::fs::rename(folder.join("config.json.new"), folder.join("config.json")).unwrap();
}

#[tokio::test]
async fn an_editors_rename_in_a_folder_of_its_own() {
    for floor in FLOORS {
        let place = Place::new();
        std::fs::create_dir(place.path("etc")).unwrap();
        let file = place.path("etc/config.json");
        std::fs::write(&file, OLD).unwrap();
        // However the new file is called before: nothing in the folder is seen.
        let lay = |folder: &Path| std::fs::write(folder.join("sedX1b2c3"), NEW).unwrap();
        let put =
            |folder: &Path| std::fs::rename(folder.join("sedX1b2c3"), folder.join("config.json")).unwrap();
        unseen(floor, &place, &file, lay, put).await;
    }
}

#[tokio::test]
async fn an_editors_rename_beside_what_commands_need() {
    for floor in FLOORS {
        let place = Place::new();
        let file = place.path("config.json");
        std::fs::write(&file, OLD).unwrap();
        std::fs::remove_file(place.path("data/token")).unwrap();
        std::fs::write(place.path("usable"), "usable").unwrap();
        let lay = |folder: &Path| std::fs::write(folder.join("config.json.new"), NEW).unwrap();
        unseen(floor, &place, &file, lay, rename_over).await;
        let launcher = launcher(&place, floor, &file).await;
        let (output, _) = finish(launcher.spawn(place.command("cat ../usable")).await.unwrap()).await;
        assert_eq!(output, "usable", "{floor:?}: what else lies there is");
        launcher.stop().await;
    }
}

/// A dated folder with the file, as the kubelet writes it.
fn dated(mount: &Path, name: &str, text: &str) -> PathBuf {
    std::fs::create_dir_all(mount.join(name)).unwrap();
    std::fs::write(mount.join(name).join("config.json"), text).unwrap();
    mount.join(name)
}

fn point(mount: &Path, name: &str) {
    std::os::unix::fs::symlink(name, mount.join("..data_tmp")).unwrap();
    std::fs::rename(mount.join("..data_tmp"), mount.join("..data")).unwrap();
}

#[tokio::test]
async fn a_link_swapped_as_kubernetes_does_it() {
    for floor in FLOORS {
        let place = Place::new();
        let mount = place.path("mount");
        dated(&mount, "..2026_1", OLD);
        point(&mount, "..2026_1");
        std::os::unix::fs::symlink("..data/config.json", mount.join("config.json")).unwrap();
        let lay = |mount: &Path| drop(dated(mount, "..2026_2", NEW));
        unseen(floor, &place, &mount.join("config.json"), lay, |mount| point(mount, "..2026_2")).await;
    }
}

#[tokio::test]
async fn files_that_are_named_later_are_hidden_from_then_on() {
    for floor in FLOORS {
        let place = Place::new();
        for folder in ["one", "two"] {
            std::fs::create_dir(place.path(folder)).unwrap();
            std::fs::write(place.path(folder).join("token"), OLD).unwrap();
        }
        let launcher = launcher(&place, floor, &place.path("one/token")).await;
        let look = || place.command("cat ../one/token ../two/token 2>/dev/null | wc -l -c | tr -s ' '");
        let count = |output: &str| output.split_whitespace().last().unwrap().parse::<usize>().unwrap();
        let (output, _) = finish(launcher.spawn(look()).await.unwrap()).await;
        assert_eq!(count(&output), OLD.len(), "{floor:?}");
        launcher.protect(vec![place.path("one/token"), place.path("two/token")]).unwrap();
        let (output, _) = finish(launcher.spawn(look()).await.unwrap()).await;
        assert_eq!(count(&output), 0, "{floor:?}");
        launcher.stop().await;
    }
}
