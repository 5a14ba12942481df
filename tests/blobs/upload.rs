//! Bytes in, bytes out: whole, in parts, and not what they are said to be.

use super::http::{answer, call, connect, get, head};
use super::node::{Running, settings};
use super::{KIB, bytes, file, hash, held, owner, path, put};
use std::io::Write;
use wats_config::Token;

#[test]
fn a_blob_comes_back_as_it_was_sent() {
    let mut node = Running::new("roundtrip");
    for size in [0, 1, 300 * KIB, 3000 * KIB] {
        let sent = bytes(size as u64, size);
        let (blob, answer) = put(&node, &sent);
        assert_eq!((answer.status, answer.json()["size"].as_u64()), (201, Some(size as u64)));
        assert_eq!(put(&node, &sent).1.status, 200, "it is here already");
        let got = get(node.address(), &path(blob));
        assert_eq!((got.status, got.body == sent), (200, true), "{size}");
        assert_eq!(got.header("etag"), Some(&*format!("\"{blob}\"")));
        let head = call(node.address(), "HEAD", &path(blob), &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), Some(&*size.to_string()));
        let tag = format!("\"{blob}\"");
        assert_eq!(call(node.address(), "GET", &path(blob), &[("If-None-Match", &tag)], b"").status, 304);
    }
    assert_eq!(get(node.address(), &path(hash(b"nothing"))).status, 404);
    assert_eq!(get(node.address(), "/v1/blobs/xyz").status, 400);
    node.check();
    let sent = bytes(3000 * KIB as u64, 3000 * KIB);
    node.stop();
    node.start().expect("it starts");
    assert_eq!(get(node.address(), &path(hash(&sent))).body, sent);
    node.check();
}

#[test]
fn a_part_is_what_was_asked_for() {
    let node = Running::new("ranges");
    let sent = bytes(7, 700 * KIB);
    let blob = held(&node, &sent);
    let part = |range: &str| call(node.address(), "GET", &path(blob), &[("Range", range)], b"");
    for (range, want) in [
        ("bytes=0-9", 0..10),
        ("bytes=600000-", 600_000..sent.len()),
        ("bytes=-5", sent.len() - 5..sent.len()),
    ] {
        let got = part(range);
        assert_eq!((got.status, &got.body[..]), (206, &sent[want.clone()]), "{range}");
        let of = format!("bytes {}-{}/{}", want.start, want.end - 1, sent.len());
        assert_eq!(got.header("content-range"), Some(&*of));
    }
    let none = part("bytes=800000-");
    assert_eq!((none.status, none.header("content-range")), (416, Some(&*format!("bytes */{}", sent.len()))));
    let stale = [("Range", "bytes=0-9"), ("If-Range", "\"another\"")];
    assert_eq!(call(node.address(), "GET", &path(blob), &stale, b"").body.len(), sent.len());
}

#[test]
fn an_upload_goes_on_where_it_broke_off() {
    let node = Running::new("resumed");
    let sent = bytes(8, 900 * KIB);
    let (blob, size) = (hash(&sent), sent.len());
    let offset = || {
        let head = call(node.address(), "HEAD", &path(blob), &[], b"");
        head.header("upload-offset").map(|n| n.parse::<usize>().expect("a number"))
    };
    assert_eq!(offset(), None);
    // The connection breaks in the middle.
    let mut broken = connect(node.address());
    broken.write_all(head("PUT", &path(blob), &[], size).as_bytes()).expect("sent");
    broken.write_all(&sent[..400 * KIB]).expect("sent");
    broken.shutdown(std::net::Shutdown::Write).expect("closed");
    let _ = answer(broken);
    node.until("a part", |_| offset().is_some());
    let from = offset().expect("a part");
    assert!(from > 0 && from <= 400 * KIB, "{from}");
    let piece = |from: usize, to: usize| {
        let range = format!("bytes {from}-{}/{size}", to - 1);
        call(node.address(), "PUT", &path(blob), &[("Content-Range", &range)], &sent[from..to])
    };
    let wrong = piece(from + 1, size);
    assert_eq!((wrong.status, wrong.header("upload-offset")), (409, Some(&*from.to_string())));
    let part = piece(from, 600 * KIB);
    assert_eq!((part.status, part.header("upload-offset")), (202, Some(&*(600 * KIB).to_string())));
    assert_eq!(get(node.address(), &path(blob)).status, 404, "a part is not visible");
    assert_eq!(piece(600 * KIB, size).status, 201);
    assert_eq!((get(node.address(), &path(blob)).body == sent, offset()), (true, None));
    // Through the client, in pieces of its own, from a file.
    let big = bytes(9, 9000 * KIB);
    let from = node.dir.join("big");
    std::fs::write(&from, &big).expect("a file");
    let (blob, _) = owner(&node).upload(&from).expect("taken");
    assert_eq!((blob, std::fs::read(file(&node, blob)).expect("a file") == big), (hash(&big), true));
    assert_eq!(owner(&node).upload(&from).expect("here"), (blob, big.len() as u64));
    node.check();
}

#[test]
fn what_lies_about_its_hash_or_length_is_thrown_away() {
    let node = Running::with("lies", |settings| settings.config.storage.blob_bytes = 100 * KIB as u64);
    let sent = bytes(10, 50 * KIB);
    let other = hash(b"another");
    let lie = call(node.address(), "PUT", &path(other), &[], &sent);
    assert_eq!(lie.short(), (422, "bad_hash".into()));
    assert_eq!(get(node.address(), &path(other)).status, 404);
    let range = [("Content-Range", "bytes 0-9/100")];
    assert_eq!(call(node.address(), "PUT", &path(other), &range, &sent).short(), (400, "bad_range".into()));
    assert_eq!(put(&node, &bytes(11, 101 * KIB)).1.short(), (413, "too_large".into()));
    let range = [("Content-Range", "bytes 0-9/1000000000000")];
    assert_eq!(
        call(node.address(), "PUT", &path(other), &range, &sent[..10]).short(),
        (413, "too_large".into())
    );
    // Without a length nobody knows whether it will fit.
    let mut chunked = connect(node.address());
    let text = format!(
        "PUT {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        path(other)
    );
    chunked.write_all(text.as_bytes()).expect("sent");
    assert_eq!(answer(chunked).expect("an answer").status, 411);
    let left = std::fs::read_dir(node.settings.store.join("blobs/partial")).map_or(0, Iterator::count);
    let sums = node.node().core().blobs.accounts().sums();
    assert_eq!((left, sums.used, sums.reserved, sums.unattached), (0, 0, 0, 0));
    node.check();
}

#[test]
fn writing_takes_what_other_writes_take() {
    let token = "a token that is long enough";
    let token = token.replace(' ', "-");
    let node = Running::with("token", |settings| settings.token = Token::new(&token));
    let sent = bytes(12, KIB);
    let (blob, refused) = put(&node, &sent);
    assert_eq!(refused.status, 401);
    let shown = format!("Bearer {token}");
    let answer = call(node.address(), "PUT", &path(blob), &[("Authorization", &shown)], &sent);
    assert_eq!(answer.status, 201);
    assert_eq!(get(node.address(), &path(blob)).body, sent, "reading takes nothing");
    assert!(settings(&node.dir).token.is_none());
}
