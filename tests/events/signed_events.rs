//! Sections 1.1 and 2: events that are signed, what they amount to, and the checks from the id on.

use wats_event::{Code, Content, Draft, Evidence, Hex32, Rules, Secret, SignError};
use wats_model::ids::Millis;

const ID: &str = "00000000000000000000000000000000000000000000000000000000000000ab";

fn secret() -> Secret {
    Secret::from_seed([9; 32])
}

fn signed(members: &str) -> String {
    let text = format!(r#"{{"net":"main","created_at":5,{members}}}"#);
    wats_event::sign(&secret(), text.as_bytes()).expect("an event")
}

fn parsed(members: &str) -> wats_event::Event {
    wats_event::check(signed(members).as_bytes(), Millis(5), &Rules::any()).expect("valid")
}

#[test]
fn a_signed_event_passes_and_a_changed_one_does_not() {
    let rules = Rules::any();
    let text = signed(r#""kind":"post","text":"fact","extra":{"b":1.0,"a":[true,null]}"#);
    let event = wats_event::check(text.as_bytes(), Millis(5), &rules).expect("valid");
    assert_eq!(event.author, secret().public());
    let respelt = text.replace("fact", "f\\u0061ct").replace("\"v\":1", "\"v\" : 1.0");
    assert_eq!(wats_event::check(respelt.as_bytes(), Millis(5), &rules), Ok(event));
    let refused =
        |text: String| wats_event::check(text.as_bytes(), Millis(5), &rules).expect_err("refused").code;
    assert_eq!(refused(text.replace("fact", "lie")), Code::BadId);
    assert_eq!(refused(text.replace("[true,null]", "[true]")), Code::BadId);
    let other = Secret::from_seed([8; 32]);
    let sig = text.split("\"sig\":\"").nth(1).map(|rest| &rest[..128]).expect("a signature");
    assert_eq!(refused(text.replace(sig, &"0".repeat(128))), Code::BadSignature);
    let members = r#"{"net":"main","created_at":5,"kind":"post","text":"fact"}"#;
    let theirs = wats_event::sign(&other, members.as_bytes()).expect("an event");
    let mine = wats_event::sign(&secret(), members.as_bytes()).expect("an event");
    let their_sig = theirs.split("\"sig\":\"").nth(1).map(|rest| &rest[..128]).expect("a signature");
    let my_sig = mine.split("\"sig\":\"").nth(1).map(|rest| &rest[..128]).expect("a signature");
    assert_eq!(refused(mine.replace(my_sig, their_sig)), Code::BadSignature);
}

#[test]
fn work_and_time_are_judged_after_the_signature() {
    let draft = || {
        Draft::read(br#"{"net":"main","kind":"post","created_at":600005,"nonce":77,"zz":1}"#)
            .expect("a draft")
    };
    let mined = draft().mine(&secret(), 10).expect("an event");
    let rules = |bits| Rules { networks: Some([("main".to_owned(), bits)].into()) };
    let of = |text: &str, at, bits| {
        wats_event::check(text.as_bytes(), Millis(at), &rules(bits)).map_err(|r| r.code)
    };
    assert!(of(&mined, 5, 10).expect("valid").id.leading_zeros() >= 10);
    assert_eq!(of(&mined, 4, 10), Err(Code::Future));
    assert!(of(&mined, u64::MAX, 10).is_ok());
    assert_eq!(of(&mined, 4, 200), Err(Code::PowTooLow));
    let zeros = "0".repeat(128);
    let sig = mined.split("\"sig\":\"").nth(1).map(|rest| &rest[..128]).expect("a signature");
    assert_eq!(of(&mined.replace(sig, &zeros), 4, 200), Err(Code::BadSignature));
}

#[test]
fn evidence_is_judged_by_what_is_in_it() {
    let of = |data: &str| {
        let attached = format!(r#""attachments":[{{"blob":"{ID}","size":1}}]"#);
        let event = parsed(&format!(r#""kind":"react","parent":"{ID}",{attached},"data":{{{data}}}"#));
        match event.content {
            Content::React(react) => react.evidence,
            other => panic!("a react, not {other:?}"),
        }
    };
    let none = [
        "",
        r#""evidence":null"#,
        r#""evidence":false"#,
        r#""evidence":"""#,
        r#""evidence":" \u2003\n\u00a0\u3000""#,
        r#""evidence":[]"#,
        r#""evidence":{}"#,
        r#""evidence":[[],{},"",false,null,{"a":[" "]}]"#,
    ];
    for data in none {
        assert_eq!(of(data), Evidence::None, "{data}");
    }
    let text = [
        r#""evidence":0"#,
        r#""evidence":-0.0"#,
        r#""evidence":true"#,
        r#""evidence":"x""#,
        r#""evidence":[[0]]"#,
        r#""evidence":"\u200b""#,
        r#""evidence":{"a":{"b":[true]}}"#,
        r#""evidence":{"blob":"x"}"#,
    ];
    for data in text {
        assert_eq!(of(data), Evidence::Text, "{data}");
    }
    assert_eq!(of(&format!(r#""evidence":{{"blob":"{}"}}"#, ID.replace("ab", "ac"))), Evidence::Text);
    assert_eq!(of(&format!(r#""evidence":"{ID}""#)), Evidence::Text);
    assert_eq!(
        of(&format!(r#""evidence":{{"blob":"{ID}"}}"#)),
        Evidence::Blob(Hex32::parse(ID).expect("an id"))
    );
}

#[test]
fn owners_and_blank_texts_are_judged_as_the_conventions_say() {
    let owner = |data: &str| match parsed(&format!(r#""kind":"announce","data":{{{data}}}"#)).content {
        Content::Announce { owner } => owner.map(String::from),
        other => panic!("an announce, not {other:?}"),
    };
    assert_eq!(owner(r#""owner":" ""#), Some(" ".into()));
    assert_eq!(owner(&format!(r#""owner":"{}""#, "é".repeat(128))), Some("é".repeat(128)));
    for data in [
        "",
        r#""owner":"""#,
        r#""owner":1"#,
        r#""owner":null"#,
        &format!(r#""owner":"{}a""#, "é".repeat(128)),
    ] {
        assert_eq!(owner(data), None, "{data}");
    }
    let blank = |members: &str| match parsed(&format!(r#""kind":"post"{members}"#)).content {
        Content::Post(post) => post.blank,
        other => panic!("a post, not {other:?}"),
    };
    for text in
        ["", r#","text":"""#, r#","text":" \t\u000b\u000c\u0085\u00a0\u1680\u2000\u2028\u202f\u205f\u3000""#]
    {
        assert!(blank(text), "{text}");
    }
    for text in [
        r#","text":"x""#,
        r#","text":"\u200b""#,
        r#","text":"\u180e""#,
        r#","text":"\ufeff""#,
        r#","text":"\u001c""#,
    ] {
        assert!(!blank(text), "{text}");
    }
}

#[test]
fn signing_refuses_what_nodes_would() {
    let sign = |text: &str| wats_event::sign(&secret(), text.as_bytes());
    assert!(matches!(sign("[]"), Err(SignError::Refused(r)) if r.code == Code::BadJson));
    assert!(
        matches!(sign(r#"{"net":"main","kind":"post"}"#), Err(SignError::Refused(r)) if r.code == Code::BadField)
    );
    assert!(matches!(sign(&format!(r#"{{"author":"{ID}"}}"#)), Err(SignError::OtherAuthor { .. })));
    // What signing adds counts towards the size.
    let near =
        format!(r#"{{"net":"main","kind":"post","created_at":1,"a":"{}"}}"#, "x".repeat(256 * 1024 - 60));
    assert!(matches!(sign(&near), Err(SignError::Refused(r)) if r.code == Code::TooLarge));
}

#[test]
fn key_files_are_read_back_and_nothing_else_is() {
    let key = secret();
    assert_eq!(Secret::from_key_file(&key.to_key_file()).map(|k| k.seed()), Ok(key.seed()));
    for wrong in ["", ID, "wats-secret-key-v1:", &format!("wats-secret-key-v1:{}", ID.to_uppercase())] {
        assert!(Secret::from_key_file(wrong).is_err(), "{wrong}");
    }
    assert!(!format!("{key:?}").contains(&"09".repeat(8)), "a secret must not show");
}

#[test]
fn what_is_signed_is_sent_in_canonical_bytes() {
    for (number, sent) in [
        ("1E3", "1000"),
        ("-0.0", "0"),
        ("1e-400", "0"),
        ("1e15", "1000000000000000"),
        ("9007199254740991.4", "9007199254740991"),
        ("1.50", "1.5"),
        ("5e-324", "5e-324"),
    ] {
        let text = signed(&format!(r#""kind":"post","x":[{number}]"#));
        assert!(text.contains(&format!("\"x\":[{sent}]")), "{text}");
        let event = wats_event::check(text.as_bytes(), Millis(5), &Rules::any()).expect("valid");
        // Written otherwise it is the same event.
        let written = text.replace(&format!("\"x\":[{sent}]"), &format!("\"x\":[{number}]"));
        assert_eq!(wats_event::check(written.as_bytes(), Millis(5), &Rules::any()), Ok(event), "{written}");
    }
    for number in ["1e16", "9007199254740992", "-9007199254740992.0", "1e300", "1e400"] {
        let text = format!(r#"{{"net":"main","created_at":5,"kind":"post","x":[{number}]}}"#);
        let refused = wats_event::sign(&secret(), text.as_bytes());
        assert!(matches!(refused, Err(SignError::Refused(r)) if r.code == Code::BadJson), "{number}");
    }
}

#[test]
fn the_largest_event_can_be_signed() {
    let with = |n: usize| {
        let text = format!(r#"{{"net":"main","kind":"post","created_at":1,"a":"{}"}}"#, "x".repeat(n));
        wats_event::sign(&secret(), text.as_bytes())
    };
    let around = with(0).expect("an event").len();
    let largest = with(256 * 1024 - around).expect("an event");
    assert_eq!(largest.len(), 256 * 1024);
    assert!(wats_event::check(largest.as_bytes(), Millis(5), &Rules::any()).is_ok());
    assert!(matches!(with(256 * 1024 - around + 1), Err(SignError::Refused(r)) if r.code == Code::TooLarge));
}
