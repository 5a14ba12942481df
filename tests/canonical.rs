//! RFC 8785: canonical bytes, against the RFC's own examples and another implementation.

use proptest::prelude::*;
use serde_json::Value;
use wats::event::canonical;
use wats::event::json::{self, Json};

fn ours(text: &str) -> String {
    let value = json::parse(text.as_bytes(), 64).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut bytes = Vec::new();
    canonical::write(&value, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_examples_of_the_rfc() {
    // Section 3.2.2, with the first number as a double: as an integer literal it is none of I-JSON.
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let want = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(ours(text), want);
    // Section 3.2.3: by UTF-16 code units, the emoji comes before U+FB33.
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
        "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let names: Vec<String> = match json::parse(ours(text).as_bytes(), 64).expect("I-JSON") {
        Json::Object(members) => members.iter().map(|(name, _)| name.to_owned()).collect(),
        other => panic!("an object, not {other:?}"),
    };
    assert_eq!(names, ["\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]);
}

#[test]
fn numbers_are_printed_as_ecmascript_does() {
    for (bits, want) in [
        (0x0000000000000000u64, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, "1.7976931348623157e+308"),
        (0xffefffffffffffff, "-1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xc340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44b52d02c7e14af5, "9.999999999999997e+22"),
        (0x44b52d02c7e14af6, "1e+23"),
        (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
        (0x444b1ae4d6e2ef4e, "999999999999999700000"),
        (0x444b1ae4d6e2ef4f, "999999999999999900000"),
        (0x444b1ae4d6e2ef50, "1e+21"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ] {
        // Appendix B. Rust's `{:e}` reads back exactly.
        assert_eq!(ours(&format!("{:e}", f64::from_bits(bits)).replace("inf", "0")), want, "{bits:x}");
    }
    for (text, want) in [
        ("1.0", "1"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("1e-400", "0"),
        ("9007199254740993.0", "9007199254740992"),
    ] {
        assert_eq!(ours(text), want, "{text}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(Value::from),
        (-json::MAX_INTEGER..=json::MAX_INTEGER).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Value::from),
    ];
    let text = || {
        prop_oneof![
            "\\PC*",
            "[\u{0}-\u{20}\"\\\\a]*",
            "[\u{e000}-\u{ffff}\u{10000}-\u{10ffff}\u{d000}-\u{d7ff}]*"
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn another_implementation_gives_the_same_bytes(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let theirs = serde_json_canonicalizer::to_string(&value).expect("JSON");
        prop_assert_eq!(ours(&text.expect("JSON")), theirs);
    }

    #[test]
    fn texts_that_another_reader_takes_are_taken_or_no_i_json(text in r#"[\[\]{}",:0-9.eE+\-a-fnrtul\\ ]{0,24}"#) {
        let (ours, theirs) = (json::parse(text.as_bytes(), 64), serde_json::from_str::<Value>(&text));
        match ours {
            Ok(_) => prop_assert!(theirs.is_ok(), "{}", text),
            Err(e) if theirs.is_ok() => {
                let known = ["two members", "beyond", "no finite double", "too deep"];
                prop_assert!(known.iter().any(|what| e.what.contains(what)), "{}: {}", text, e);
            }
            Err(_) => {}
        }
    }

    #[test]
    fn members_are_found_by_name(names in prop::collection::hash_set("[a-c\u{e000}\u{fffd}\u{10000}\u{d7ff}]{0,3}", 0..20)) {
        let members: Vec<String> = names.iter().map(|n| format!("{}:1", Value::from(n.as_str()))).collect();
        let text = format!("{{{}}}", members.join(","));
        let Ok(Json::Object(object)) = json::parse(text.as_bytes(), 64) else { panic!("{text}") };
        for name in &names {
            prop_assert!(object.get(name).is_some(), "{:?}", name);
        }
        prop_assert!(object.get("d").is_none());
        let order: Vec<Vec<u16>> = object.iter().map(|(name, _)| name.encode_utf16().collect()).collect();
        prop_assert!(order.is_sorted());
    }
}
