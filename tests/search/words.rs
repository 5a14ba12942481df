//! Code and several languages, from an event to a hit.

use crate::library::{Library, all};
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn code_is_found_whole_and_in_parts() {
    let mut library = Library::new("code");
    let texts = [
        "call fooBarBaz() first",
        "the snake_case_name is unused",
        "cannot open /usr/lib/libx.so.6",
        "error[E0382]: borrow of moved value",
        "a std::vec::Vec of bytes",
        "pinned to 1.2.3-beta",
        "run with --no-such-flag",
        "Le café est fermé à Zürich",
        "設定の順序の問題です",
        "C++ and C# are names",
        "HTTPServer and parseURLFast",
        "shipping 🚀 it 👍🏽 now",
    ];
    let ids: BTreeMap<_, _> = texts.iter().enumerate().map(|(n, text)| (library.post(2, text), n)).collect();
    library.settle();
    let first = |query: &str| library.find(query).first().map(|id| ids[id]);
    let only = |query: &str| library.find(query).iter().map(|id| ids[id]).collect::<Vec<_>>();
    for (query, want) in [
        ("fooBarBaz", 0),
        ("foobarbaz", 0),
        ("foo_bar_baz", 0),
        ("Bar", 0),
        ("\"bar baz\"", 0),
        ("snake_case_name", 1),
        ("snakeCaseName", 1),
        ("\"case name\"", 1),
        ("unused", 1),
        ("/usr/lib/libx.so.6", 2),
        ("libx.so.6", 2),
        ("libx", 2),
        ("\"usr/lib\"", 2),
        ("E0382", 3),
        ("error[E0382]", 3),
        ("e0382:", 3),
        ("std::vec::Vec", 4),
        ("vec::Vec", 4),
        ("Vec", 4),
        ("1.2.3", 5),
        ("1.2.3-beta", 5),
        ("beta", 5),
        ("--no-such-flag", 6),
        ("no-such-flag", 6),
        ("\"such flag\"", 6),
        ("cafe", 7),
        ("CAFÉ", 7),
        ("zurich", 7),
        ("fermé", 7),
        ("順序", 8),
        ("設定", 8),
        ("設定の順序", 8),
        ("問", 8),
        ("\"の順序の\"", 8),
        ("c++", 9),
        ("c#", 9),
        ("http", 10),
        ("httpserver", 10),
        ("url", 10),
        ("parse_url_fast", 10),
        ("shipping", 11),
        ("\"it now\"", 11),
    ] {
        assert_eq!(first(query), Some(want), "{query}");
    }
    assert_eq!(only("+c++"), [9]);
    assert_eq!(only("\"順設\""), [0; 0]);
    assert_eq!(only("\"baz bar\""), [0; 0]);
    assert!(library.ask(&all("🚀")).is_err(), "there is no word in it");
}

#[test]
fn queries_ask_for_what_they_say() {
    let mut library = Library::new("queries");
    let both =
        library.say(2, json!({"kind": "post", "title": "musl", "text": "the linker", "tags": ["cap:rust"]}));
    let linker = library.post(3, "the linker");
    let musl = library.post(4, "musl only");
    library.settle();
    let set = |query: &str| {
        let mut found = library.find(query);
        found.sort_unstable();
        found
    };
    let ids = |ids: &[wats_event::Hex32]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    assert_eq!(library.find("musl linker")[0], both, "the more words, the better");
    assert_eq!(set("musl linker"), ids(&[both, linker, musl]));
    assert_eq!(set("+musl linker"), ids(&[both, musl]));
    assert_eq!(set("+musl +linker"), ids(&[both]));
    assert_eq!(set("musl -linker"), ids(&[musl]));
    assert_eq!(set("linker tag:cap:rust"), ids(&[both]));
    assert_eq!(set("rust"), ids(&[both]), "tags are words, too");
    assert_eq!(set("only tag:cap:rust"), [], "a field filters, and words still count");
    assert_eq!(set("only OR linker"), ids(&[both, linker, musl]));
    assert_eq!(set("+linker only OR musl"), ids(&[both]));
    assert_eq!(set("\"the linker\""), ids(&[both, linker]));
    assert_eq!(set("-\"the linker\" kind:post"), ids(&[musl]));
    assert_eq!(set("tag:cap:rust OR only"), ids(&[both, musl]));
    assert_eq!(library.find("\"musl linker\""), [], "a phrase does not reach from the title into the text");
}
