//! Section 1.1 up to the id: every corner of every member, and the order of the checks.

use wats_event::{Code, Rules, Secret};

const ID: &str = "00000000000000000000000000000000000000000000000000000000000000ab";

fn secret() -> Secret {
    Secret::from_seed([9; 32])
}

/// The JSON text of an event with these members, well-formed but for what they say, with a wrong id:
/// one that passes every check before the id is refused with `bad_id`.
fn text(kind: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    let (author, sig) = (secret().public(), "0".repeat(128));
    format!(
        r#"{{"v":1,"net":"main","kind":"{kind}","author":"{author}","created_at":5,"id":"{ID}","sig":"{sig}"{comma}{members}}}"#
    )
}

fn code(text: &str) -> Code {
    wats_event::parse(text.as_bytes(), &Rules::any()).expect_err("its id is wrong").code
}

/// Which of these members make a `post` (or the kind) `bad_field`, naming `name`, and which do not.
fn fields(kind: &str, name: &str, good: &[&str], bad: &[&str]) {
    for members in good {
        assert_eq!(code(&text(kind, members)), Code::BadId, "{members}");
    }
    for members in bad {
        let refusal = wats_event::parse(text(kind, members).as_bytes(), &Rules::any()).expect_err("bad");
        assert_eq!(refusal.code, Code::BadField, "{members}");
        assert!(refusal.reason.contains(name), "{members}: {}", refusal.reason);
    }
}

/// A whole event in which one required member is replaced, or left out.
fn with(name: &str, value: Option<&str>) -> String {
    let author = format!("\"{}\"", secret().public());
    let (id, sig) = (format!("\"{ID}\""), format!("\"{}\"", "0".repeat(128)));
    let members = [
        ("v", "1"),
        ("net", "\"main\""),
        ("kind", "\"post\""),
        ("author", &author),
        ("created_at", "5"),
        ("id", &id),
        ("sig", &sig),
    ];
    let members: Vec<String> = members
        .iter()
        .filter_map(|(n, v)| {
            let value = if *n == name { value } else { Some(*v) };
            value.map(|v| format!("\"{n}\":{v}"))
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn required_members_are_there_and_of_their_form() {
    let long = format!("\"{}\"", "a".repeat(65));
    let most = format!("\"{}\"", "a".repeat(64));
    let upper = format!("\"{}\"", ID.to_uppercase());
    let kind = |n: usize| format!("\"x.{}.{}\"", "a".repeat(30), "b".repeat(n - 33));
    let (most_kind, long_kind) = (kind(64), kind(65));
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("v", &["1", "1.0", "1e0", "10e-1"], &["2", "0", "-1", "\"1\"", "true", "null", "1.5"]),
        (
            "net",
            &["\"a\"", "\"a-b_c.0\"", &most],
            &["\"\"", "\"Main\"", "\"a b\"", "\"é\"", &long, "1", "null"],
        ),
        (
            "kind",
            &["\"ask\"", "\"announce\"", "\"x.a.b\"", "\"x.a.b.c-9\"", "\"x.-.-\"", &most_kind],
            &[
                &long_kind,
                "\"\"",
                "\"Ask\"",
                "\"x\"",
                "\"x.a\"",
                "\"x.a.\"",
                "\"x..a\"",
                "\"x.a.B\"",
                "\"x.a_b.c\"",
                "\"y.a.b\"",
                "\"x.a.b.\"",
                "1",
                "null",
            ],
        ),
        ("author", &[], &["\"\"", &upper, "1", "null"]),
        (
            "created_at",
            &["0", "0.0", "-0", "-0.0", "9007199254740991", "1e3"],
            &["-1", "0.5", "\"1\"", "null"],
        ),
        ("id", &[], &["\"ab\"", &upper, "null"]),
        ("sig", &[], &["\"ab\"", &upper, "null", "1"]),
    ];
    for (name, good, bad) in cases {
        for value in good {
            assert_eq!(code(&with(name, Some(value))), Code::BadId, "{name} = {value}");
        }
        for value in bad.iter().map(|v| Some(*v)).chain([None]) {
            let refusal = wats_event::parse(with(name, value).as_bytes(), &Rules::any()).expect_err("bad");
            assert_eq!(refusal.code, Code::BadField, "{name} = {value:?}");
            assert!(refusal.reason.contains(&format!("`{name}`")), "{}", refusal.reason);
        }
    }
}

#[test]
fn parent_and_thread_go_by_kind() {
    let (parent, thread) = (format!(r#""parent":"{ID}""#), format!(r#""thread":"{ID}""#));
    let both = format!("{parent},{thread}");
    for kind in ["ask", "post", "x.a.b", "x.wearetheswarm.digest"] {
        fields(kind, "thread", &["", &both], &[&parent]);
        fields(kind, "parent", &[], &[&thread]);
    }
    fields("react", "parent", &[&parent], &[""]);
    fields("react", "thread", &[], &[&both]);
    fields("announce", "parent", &[""], &[&parent, &both]);
    fields("announce", "thread", &[], &[&thread]);
    fields("post", "parent", &[], &[r#""parent":null"#, r#""parent":"ab","thread":"ab""#]);
}

#[test]
fn optional_members_have_types_and_limits() {
    let ids = |n: usize| format!(r#""refs":[{}]"#, vec![format!("\"{ID}\""); n].join(","));
    fields(
        "post",
        "refs",
        &[&ids(0), &ids(64)],
        &[&ids(65), r#""refs":null"#, r#""refs":["ab"]"#, r#""refs":{}"#],
    );
    let to = |n: usize| format!(r#""to":[{}]"#, vec![format!("\"{ID}\""); n].join(","));
    fields("post", "to", &[&to(0), &to(16)], &[&to(17), r#""to":"ab""#, r#""to":[1]"#]);
    let tags = |n: usize| format!(r#""tags":[{}]"#, vec![r#""cap:rust""#; n].join(","));
    let tag = |t: String| format!(r#""tags":["{t}"]"#);
    fields(
        "post",
        "tags",
        &[&tags(0), &tags(32), &tag("é".repeat(32)), &tag("a".repeat(64))],
        &[
            &tags(33),
            &tag(String::new()),
            &tag("é".repeat(33)),
            &tag("a".repeat(65)),
            r#""tags":[1]"#,
            r#""tags":null"#,
        ],
    );
    let title = |c: &str, n: usize| format!(r#""title":"{}""#, c.repeat(n));
    fields(
        "post",
        "title",
        &[
            &title("", 0),
            &title("é", 300),
            &title("😀", 300),
            &title("\\u0000", 300),
            &title("\\ud83d\\ude00", 300),
        ],
        &[&title("a", 301), r#""title":null"#, r#""title":1"#],
    );
    let body = |c: &str, n: usize| format!(r#""text":"{}""#, c.repeat(n));
    fields(
        "post",
        "text",
        &[&body("é", 32 * 1024), &body("\\n", 64 * 1024)],
        &[&body("a", 64 * 1024 + 1), &format!(r#""text":"{}a""#, "é".repeat(32 * 1024)), r#""text":[]"#],
    );
    fields("post", "data", &[r#""data":{}"#], &[r#""data":null"#, r#""data":[]"#, r#""data":"x""#]);
    fields(
        "post",
        "nonce",
        &[r#""nonce":0"#, r#""nonce":-7.0"#],
        &[r#""nonce":0.5"#, r#""nonce":"1""#, r#""nonce":null"#],
    );
}

#[test]
fn attachments_have_a_blob_and_a_size() {
    let one = |rest: &str| format!(r#""attachments":[{{"blob":"{ID}"{rest}}}]"#);
    let many = |n: usize| {
        let item = format!(r#"{{"blob":"{ID}","size":1}}"#);
        format!(r#""attachments":[{}]"#, vec![item; n].join(","))
    };
    fields(
        "post",
        "attachments",
        &[
            &many(0),
            &many(16),
            &one(r#","size":1,"name":"a","type":"b","other":null"#),
            &one(r#","size":2.0"#),
        ],
        &[
            &many(17),
            &one(""),
            &one(r#","size":"1""#),
            &one(r#","size":null"#),
            &one(r#","size":0.5"#),
            &one(r#","size":1,"name":null"#),
            &one(r#","size":1,"type":1"#),
            r#""attachments":[1]"#,
            r#""attachments":{}"#,
            r#""attachments":[{"size":1}]"#,
            r#""attachments":[{"blob":"ab","size":1}]"#,
        ],
    );
}

#[test]
fn only_reacts_and_digests_have_rules_for_data() {
    let parent = format!(r#""parent":"{ID}","#);
    let data = |kind: &str, data: &str| {
        let parent = if kind == "react" { parent.as_str() } else { "" };
        code(&text(kind, &format!("{parent}\"data\":{{{data}}}")))
    };
    let bad = [
        r#""value":2"#,
        r#""value":0.5"#,
        r#""value":"1""#,
        r#""value":null"#,
        r#""value":true"#,
        r#""accept":1"#,
        r#""accept":null"#,
        r#""used":"true""#,
        r#""still_valid":0"#,
        r#""label":1"#,
        r#""label":null"#,
    ];
    for members in bad {
        assert_eq!(data("react", members), Code::BadData, "{members}");
        for other in ["ask", "post", "announce", "x.a.b", "x.wearetheswarm.digest"] {
            assert_eq!(data(other, members), Code::BadId, "{other} {members}");
        }
    }
    for members in
        [r#""value":-1.0"#, r#""value":0"#, r#""label":"""#, r#""evidence":null"#, r#""owner":[]"#, ""]
    {
        assert_eq!(data("react", members), Code::BadId, "{members}");
    }
    for members in [r#""supersedes":1"#, r#""supersedes":null"#, r#""supersedes":"ab""#] {
        assert_eq!(data("x.wearetheswarm.digest", members), Code::BadData, "{members}");
        assert_eq!(data("react", members), Code::BadId, "{members}");
        assert_eq!(data("post", members), Code::BadId, "{members}");
    }
    assert_eq!(data("x.wearetheswarm.digest", &format!(r#""supersedes":"{ID}""#)), Code::BadId);
}

#[test]
fn the_first_broken_rule_gives_the_code() {
    let rules = Rules { networks: Some([("other".to_owned(), 0)].into()) };
    let of = |text: &str| wats_event::parse(text.as_bytes(), &rules).expect_err("refused").code;
    let parent = format!(r#""parent":"{ID}","#);
    let bad_data = format!(r#"{parent}"data":{{"value":2}}"#);
    assert_eq!(of(&text("react", &bad_data)), Code::WrongNetwork);
    assert_eq!(of(&text("react", &bad_data).replace("\"v\":1", "\"v\":2")), Code::BadField);
    assert_eq!(of(&text("react", &bad_data).replace("\"v\":1", "\"v\":2,\"v\":2")), Code::BadJson);
    assert_eq!(of(&text("react", &bad_data).replace("main", "other")), Code::BadData);
    assert_eq!(of(&text("post", "").replace("main", "other")), Code::BadId);
    let huge = format!("{{{}x", " ".repeat(256 * 1024));
    assert_eq!(of(&huge), Code::TooLarge);
    let deep = format!("{{\"v\":1,\"v\":1,\"a\":{}1{}}}", "[".repeat(32), "]".repeat(32));
    assert_eq!(of(&deep), Code::TooLarge);
}

#[test]
fn size_and_nesting_end_at_their_limits() {
    let sized = |n: usize| {
        let empty = text("post", r#""a":"""#).len();
        text("post", &format!(r#""a":"{}""#, "x".repeat(n - empty)))
    };
    assert_eq!(code(&sized(256 * 1024)), Code::BadId);
    assert_eq!(code(&sized(256 * 1024 + 1)), Code::TooLarge);
    // White space counts within the event, and not around it.
    for space in ["\n", " \t\r\n", &" ".repeat(256 * 1024)] {
        assert_eq!(code(&format!("{space}{}{space}", sized(256 * 1024))), Code::BadId);
        assert_eq!(
            code(&format!("{space}{}", sized(256 * 1024).replace("{\"v\"", "{ \"v\""))),
            Code::TooLarge
        );
    }
    for space in ["\u{c}", "\u{b}", "\u{a0}", "\u{2028}"] {
        assert_eq!(code(&format!("{}{space}", text("post", ""))), Code::BadJson, "{space:?}");
    }
    let nested = |n: usize, open: &str, close: &str| {
        text("post", &format!(r#""a":{}1{}"#, open.repeat(n - 1), close.repeat(n - 1)))
    };
    for (open, close) in [("[", "]"), ("{\"b\":", "}")] {
        assert_eq!(code(&nested(32, open, close)), Code::BadId);
        assert_eq!(code(&nested(33, open, close)), Code::TooLarge);
    }
    // Brackets in strings do not nest, behind whatever escapes.
    assert_eq!(code(&text("post", &format!(r#""a":"\\\"{}""#, "[".repeat(99)))), Code::BadId);
    assert_eq!(code(&"[".repeat(100_000)), Code::TooLarge);
    assert_eq!(code(&"{\"a\":".repeat(40_000)), Code::TooLarge);
}

#[test]
fn only_i_json_objects_are_json() {
    let bad = [
        "",
        " ",
        "nul",
        "[]",
        "1",
        "\"a\"",
        "null",
        "{",
        "{}}",
        "{} {}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":1e400}",
        "{\"a\":-1e400}",
        "{\"a\":9007199254740992}",
        "{\"a\":-9007199254740992}",
        "{\"a\":9007199254740992.0}",
        "{\"a\":9007199254740991.5}",
        "{\"a\":1e16}",
        "{\"a\":-1e16}",
        "{\"a\":1e300}",
        "{\"a\":[{\"b\":1e16}]}",
        "{\"a\":123456789012345678901234567890}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\udc00\"}",
        "{\"a\":\"\\ud800\\u0041\"}",
        "{\"a\":\"\\udc00\\ud800\"}",
        "{\"\\ud800\":1}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"b\":[{\"a\":1,\"a\":1}]}",
        "{\"a\":1 \"b\":2}",
        "[1 2]",
        "\u{feff}{}",
        "{\"a\":tru}",
        "{\"a\":\"",
        "{\"a\":\"\\",
        "{\"a\":\"\\u",
        "{\"a\":\"\\ud83d\\u",
        "{\"a\":1\u{a0}}",
        "//\n{}",
    ];
    for text in bad {
        assert_eq!(code(text), Code::BadJson, "{text:?}");
    }
    for bytes in [
        &b"{\"a\":\"\xff\"}"[..],
        b"{\"a\":\"\xed\xa0\x80\"}",
        b"{\"a\":\"\xc0\x80\"}",
        b"\xef\xbb\xbf{}",
        b"\x00",
    ] {
        let refusal = wats_event::parse(bytes, &Rules::any()).expect_err("not UTF-8");
        assert_eq!(refusal.code, Code::BadJson, "{bytes:?}");
    }
    let good = [
        "1e15",
        "-0",
        "-0.0",
        "1e-400",
        "9007199254740991",
        "-9007199254740991",
        "9007199254740991.0",
        "9007199254740991.4",
        "90071992547409910e-1",
        "5e-324",
        "1E+2",
        "\"\\ud83d\\ude00\\/\\b\"",
        "\"\u{ffff}\"",
        "\"\\u0000\"",
        "[ ]",
        "{ }",
        "[[],{},\"\",null,true,false]",
    ];
    for value in good {
        assert_eq!(code(&text("post", &format!("\"a\":\t{value}\r\n "))), Code::BadId, "{value}");
    }
}
