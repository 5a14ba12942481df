//! RFC 8785: canonical bytes, against the RFC's own examples and another implementation.

use proptest::prelude::*;
use serde_json::Value;
use wats_event::canonical;
use wats_event::json::{self, Json};

fn ours(text: &str) -> String {
    let value = json::parse(text.as_bytes(), 64).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut bytes = Vec::new();
    canonical::write(&value, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_examples_of_the_rfc() {
    // Section 3.2.2, without 1E30: it is beyond 2^53 - 1.
    let text = r#"{
        "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let want = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,4.5,0.002,1e-27],\
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
        // Appendix B. Those beyond 2^53 - 1 are in no text, and are printed all the same.
        let x = f64::from_bits(bits);
        let mut bytes = Vec::new();
        canonical::write(&Json::Float(x), &mut bytes);
        assert_eq!(bytes, want.as_bytes(), "{bits:x}");
        // Rust's `{:e}` reads back exactly.
        let text = format!("{x:e}");
        match json::parse(text.as_bytes(), 1) {
            Ok(_) => assert_eq!(ours(&text), want, "{bits:x}"),
            Err(_) => assert!(x.abs() > json::MAX_INTEGER as f64, "{bits:x}"),
        }
    }
    for (text, want) in [
        ("1.0", "1"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("1e-400", "0"),
        ("-1e-400", "0"),
        ("0e99999999999999999999", "0"),
        ("0.1e1", "1"),
        ("10000e-4", "1"),
        ("1.5", "1.5"),
        ("4e-324", "5e-324"),
        ("2.4703282292062327e-324", "0"),
        ("2.4703282292062328e-324", "5e-324"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
        ("9007199254740991.4", "9007199254740991"),
        ("9007199254740991.49999999999999999999999", "9007199254740991"),
        ("9007199254740990.5", "9007199254740990"),
        ("0.9007199254740991e16", "9007199254740991"),
        ("90071992547409910e-1", "9007199254740991"),
    ] {
        assert_eq!(ours(text), want, "{text}");
    }
}

#[test]
fn numbers_beyond_the_integers_are_none() {
    for text in [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740993",
        "9007199254740991.5",
        "-9007199254740991.5",
        "9007199254740992.0",
        "1e16",
        "-1e16",
        "1e300",
        "1e400",
        "-1e400",
        "1e99999999999999999999",
        "18446744073709551616",
        "123456789012345678901234567890",
    ] {
        let error = json::parse(text.as_bytes(), 1).expect_err(text);
        assert!(error.what.contains("beyond"), "{text}: {error}");
    }
}

#[test]
fn long_literals_are_the_nearest_double_too() {
    let zeros = |n: usize| "0".repeat(n);
    for (text, want) in [
        (format!("0.{}1e262001", zeros(262_000)), "1"),
        (format!("1{}e-262000", zeros(262_000)), "1"),
        (format!("-25{}e-262001", zeros(262_000)), "-2.5"),
        (format!("1e-{}1", zeros(262_000)), "0.1"),
        (format!("1e+{}1", zeros(262_000)), "10"),
        (format!("1.{}1", zeros(262_000)), "1"),
        (format!("9007199254740991.4{}", "9".repeat(262_000)), "9007199254740991"),
        (format!("0.{}1e{}", zeros(10), "9".repeat(5)), ""),
        (format!("{}.5", "9".repeat(262_000)), ""),
        // The standard library takes 655360 for 65536.
        (format!("0.{}1e655360", zeros(65_535)), ""),
        (format!("1{}e-655360", zeros(65_536)), "0"),
        (format!("0.{}1e{}", zeros(262_000), "9".repeat(40)), ""),
        (format!("1{}e-{}", zeros(262_000), "9".repeat(40)), "0"),
        (format!("0.{}e{}", zeros(262_000), "9".repeat(40)), "0"),
        // Halfway between two doubles, but for the last digit.
        (
            format!("0.5000000000000000555111512312578270211815834045410156250{}1", zeros(2000)),
            "0.5000000000000001",
        ),
        (format!("0.5000000000000000555111512312578270211815834045410156250{}0", zeros(2000)), "0.5"),
    ] {
        let head: String = text.chars().take(20).collect();
        match json::parse(text.as_bytes(), 1) {
            Ok(_) => assert_eq!(ours(&text), want, "{head}… of {}", text.len()),
            Err(error) => assert!(want.is_empty() && error.what.contains("beyond"), "{head}…: {error}"),
        }
    }
}

/// A double within 2^53 - 1, of any size, or of a size that people write.
fn within(x: f64, small: bool) -> f64 {
    let most = json::MAX_INTEGER as f64;
    match x.is_finite() {
        true if small => (x % 1e9) / 64.0,
        true => x % most,
        false => 0.5,
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(Value::from),
        (-json::MAX_INTEGER..=json::MAX_INTEGER).prop_map(Value::from),
        (any::<f64>(), any::<bool>()).prop_map(|(x, small)| within(x, small)).prop_map(Value::from),
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
    fn canonical_bytes_are_a_text_of_the_same_value(value in any_json()) {
        let text = value.to_string();
        let first = json::parse(text.as_bytes(), 64).expect("I-JSON");
        let again = ours(&text);
        prop_assert_eq!(json::parse(again.as_bytes(), 64).expect("I-JSON"), first);
        prop_assert_eq!(ours(&again), again);
    }

    #[test]
    fn a_number_is_the_double_nearest_to_its_literal(text in "-?(0|[1-9][0-9]{0,25})([.][0-9]{1,40})?([eE][+-]?[0-9]{1,3})?") {
        let nearest: f64 = text.parse().expect("a number");
        match json::parse(text.as_bytes(), 1) {
            Ok(Json::Int(i)) => prop_assert_eq!(i as f64, nearest),
            Ok(Json::Float(x)) => prop_assert!(x == nearest && x.fract() != 0.0, "{}", text),
            Ok(other) => prop_assert!(false, "{:?}", other),
            Err(_) => prop_assert!(nearest.abs() > json::MAX_INTEGER as f64, "{}", text),
        }
    }

    #[test]
    fn texts_that_another_reader_takes_are_taken_or_no_i_json(text in r#"[\[\]{}",:0-9.eE+\-a-fnrtul\\ ]{0,24}"#) {
        let (ours, theirs) = (json::parse(text.as_bytes(), 64), serde_json::from_str::<Value>(&text));
        match ours {
            Ok(_) => prop_assert!(theirs.is_ok(), "{}", text),
            Err(e) if theirs.is_ok() => {
                let known = ["two members", "beyond", "too deep"];
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
