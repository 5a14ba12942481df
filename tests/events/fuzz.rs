//! Byte-level fuzzing of the event reader on any toolchain: mutations of seeds, the same each time.
//!
//! `WATS_FUZZ_SECONDS` says for how long (2 by default), `WATS_FUZZ_SEED` from where. What it finds is
//! printed as bytes, and becomes a test in `event_form.rs`.

use crate::event_invariants;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use wats_event::{Secret, sign};

/// SplitMix64: a few lines, and the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Pieces that mean something to the reader.
const WORDS: [&[u8]; 44] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"null",
    b"true",
    b"-0",
    b"1e400",
    b"1e-400",
    b"9007199254740992",
    b"9007199254740991",
    b"9007199254740991.5",
    b"1e16",
    b"0.1",
    b"1E+2",
    b"01",
    b"\\ud800",
    b"\\udc00",
    b"\\ud83d\\ude00",
    b"\\u0000",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\"id\":",
    b"\"sig\":1,",
    b"\"parent\":",
    b"\"thread\":",
    b"\"refs\":[],",
    b"\"data\":{",
    b"\"value\":1",
    b"\"evidence\":",
    b"\"attachments\":[{",
    b"\"kind\":\"react\",",
    b"\"kind\":\"x.a.b\"",
    b"\"nonce\":-1,",
    b"\n",
    b"\x00",
    b"1",
    b"[[[[[[[[[[[[[[[[[[",
    b"]]]]]]]]]]]]]]]]]]",
];

fn seeds() -> Vec<Vec<u8>> {
    let id = "0".repeat(62) + "ab";
    let secret = Secret::from_seed([3; 32]);
    let drafts = [
        r#""kind":"post","text":"fact","title":"A \"title\"","tags":["cap:rust","lang:fr"],"nonce":7"#
            .to_owned(),
        format!(r#""kind":"post","parent":"{id}","thread":"{id}","refs":["{id}","{id}"],"to":["{id}"]"#),
        format!(
            r#""kind":"react","parent":"{id}","attachments":[{{"blob":"{id}","size":3,"name":"a"}}],"data":{{"value":1.0,"used":true,"evidence":{{"blob":"{id}","detail":"é😀"}}}}"#
        ),
        r#""kind":"announce","data":{"owner":"o","x":[1e15,-0.0,1.5e-7,{"b":null,"a":[[[]]]}]}"#.to_owned(),
        format!(r#""kind":"x.wearetheswarm.digest","refs":["{id}"],"data":{{"supersedes":"{id}"}}"#),
    ];
    let signed = |draft: &String| {
        let text = format!(r#"{{"net":"main","created_at":5,{draft}}}"#);
        sign(&secret, text.as_bytes()).expect("an event").into_bytes()
    };
    drafts.iter().map(signed).chain([b"{}".to_vec(), Vec::new()]).collect()
}

/// One to eight small changes.
fn mutate(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(8) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + 1 + dice.below(12)).min(bytes.len());
        match dice.below(6) {
            0 => drop(bytes.splice(at..at, dice.pick(&WORDS).iter().copied())),
            1 => drop(bytes.splice(at..end, dice.pick(&WORDS).iter().copied())),
            2 => drop(bytes.drain(at..end)),
            3 if at < bytes.len() => bytes[at] = dice.roll() as u8,
            4 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            _ => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(80)).min(other.len());
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
        }
    }
    bytes
}

#[test]
fn no_bytes_break_the_event_reader() {
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .ok()
            .map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
    };
    let mut dice = Dice(number("WATS_FUZZ_SEED", 1));
    let end = Instant::now() + Duration::from_secs(number("WATS_FUZZ_SECONDS", 2));
    let seeds = seeds();
    seeds.iter().for_each(|seed| event_invariants::check(seed));
    let mut tried = 0u64;
    while Instant::now() < end {
        for _ in 0..256 {
            let bytes = mutate(&mut dice, &seeds);
            if catch_unwind(AssertUnwindSafe(|| event_invariants::check(&bytes))).is_err() {
                panic!("these bytes break an invariant: {:?}", bytes.escape_ascii().to_string());
            }
            tried += 1;
        }
    }
    println!("{tried} texts");
}
