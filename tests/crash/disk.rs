//! A full disk: a small file system in memory, which takes the rights to mount one.

use super::http::{get, post};
use super::node::{Running, post_of, scratch};
use super::views::assert_views;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use wats_event::Hex32;

/// A small disk.
struct Disk(PathBuf);

impl Disk {
    fn mount(name: &str) -> Result<Disk, String> {
        let at = scratch(name);
        // One that an earlier run left; there is none as a rule.
        let _ = Command::new("umount").arg(&at).output();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=48m", "wats-test"]).arg(&at).output();
        match mounted {
            Ok(output) if output.status.success() => Ok(Disk(at)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(e) => Err(e.to_string()),
        }
    }

    fn free(&self) -> u64 {
        wats_node::free_disk(&self.0).expect("a disk")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// Fills a disk, but for some bytes.
fn fill(disk: &Disk, but: u64) -> PathBuf {
    let ballast = disk.0.join("ballast");
    let size = disk.free().saturating_sub(but) as usize;
    // Until it is really full: what is free may be less than it says.
    let _ = fs::write(&ballast, vec![1; size]);
    ballast
}

/// Sends posts of some kilobytes until one is refused because the disk is full; those acknowledged.
fn post_until_full(node: &Running, prefix: &str) -> Vec<Hex32> {
    let mut held = Vec::new();
    for n in 0..5_000 {
        let (id, event) = post_of(2, node.now(), &format!("{prefix} {n} {}", "x".repeat(60_000)));
        let answer = post(node.address(), &event);
        match answer.status {
            201 => held.push(id),
            507 => {
                assert_eq!(answer.short(), (507, "disk_full".into()));
                assert_eq!(answer.header("retry-after"), Some("10"));
                return held;
            }
            other => panic!("{other}: {:?}", answer.short()),
        }
    }
    panic!("the disk does not get full");
}

/// The node refuses, goes on answering, and takes events in again by itself when there is space.
fn fills_and_recovers(name: &str, min_free_disk: u64) {
    let disk = Disk::mount(name).expect("a small file system that root can mount");
    let store = disk.0.join("store");
    let mut node = Running::with(&format!("{name}_node"), |settings| {
        settings.store = store.clone();
        settings.limits.min_free_disk = min_free_disk;
        (settings.sizes.cache, settings.sizes.writes) = (2 << 20, 4 << 20);
    });
    let (first, event) = post_of(2, node.now(), "while there is space");
    assert_eq!(post(node.address(), &event).status, 201);
    let mut held = vec![first];
    for round in 0..2 {
        let ballast = fill(&disk, min_free_disk + (6 << 20));
        held.extend(post_until_full(&node, &format!("round {round}")));
        // It keeps refusing, and keeps answering, while time goes on.
        for n in 0..20 {
            node.pass(wats_model::ids::Millis::days(1));
            let (_, event) =
                post_of(3, node.now(), &format!("round {round}, too much {n} {}", "y".repeat(60_000)));
            let answer = post(node.address(), &event);
            assert!(matches!(answer.status, 201 | 507), "{:?}", answer.short());
            let read = get(node.address(), &format!("/v1/events/{first}"));
            assert_eq!((read.status, &read.json()["event"]["text"]), (200, &"while there is space".into()));
            assert_eq!(get(node.address(), "/healthz").status, 200);
        }
        fs::remove_file(&ballast).expect("space");
        let (id, event) = post_of(2, node.now(), &format!("after round {round}"));
        let began = Instant::now();
        while post(node.address(), &event).status == 507 {
            assert!(began.elapsed() < Duration::from_secs(90), "it does not recover");
            std::thread::sleep(Duration::from_millis(50));
        }
        held.push(id);
        node.check();
        node.until("readiness", |_| get(node.address(), "/readyz").status == 200);
    }
    check_held(&node, &held);
    node.stop();
    node.start().expect("it starts");
    check_held(&node, &held);
    node.check();
    node.stop();
    assert!(Path::new(&store).exists());
}

fn check_held(node: &Running, held: &[Hex32]) {
    for id in held {
        assert!(node.store().event(*id).expect("readable").is_some(), "{id} was acknowledged and is lost");
    }
    assert_views(node.store(), &node.settings.config);
}

#[test]
#[ignore = "mounts a small file system, as root: scripts/test"]
fn a_disk_that_is_nearly_full_is_left_alone() {
    fills_and_recovers("disk_guard", 8 << 20);
}

#[test]
#[ignore = "mounts a small file system, as root: scripts/test"]
fn a_disk_that_is_full_to_the_last_byte_is_survived() {
    fills_and_recovers("disk_full", 0);
}
