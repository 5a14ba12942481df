//! A copy of an answer, which claims to be older than what it copies.

use super::*;

/// An ask, an answer that two have confirmed, a copy that the same have confirmed, and somebody who uses that.
struct Copied {
    build: Build,
    ask: EventId,
    original: EventId,
    copy: EventId,
    accomplice: KeyId,
}

impl Copied {
    /// The copy claims this time; the accomplice is one of so many whom a key lets in.
    fn new(claimed: Millis, let_in: usize) -> Copied {
        let mut b = Build::new();
        let (_, trusted) = reader(&mut b, 6);
        let [asker, author, copier, one, two, voucher] = trusted[..] else { unreachable!("six keys") };
        let ask = b.ask(asker, DAY(2));
        let original = b.answer(author, ask, DAY(3));
        let copy = b.answer(copier, ask, claimed);
        b.received(copy, DAY(3).after(MS));
        for post in [original, copy] {
            b.confirm(one, post, DAY(4));
            b.confirm(two, post, DAY(4));
        }
        let let_in = some_keys(&mut b, let_in);
        for k in &let_in {
            b.vouch(voucher, *k, DAY(2));
        }
        Copied { build: b, ask, original, copy, accomplice: let_in[0] }
    }

    fn canonical(&self) -> EventId {
        self.build.views(DAY(5)).canonical[&self.ask]
    }
}

#[test]
fn a_copy_takes_no_place_by_its_date() {
    for claimed in [Millis(0), DAY(2), DAY(3), DAY(3).after(MS)] {
        let copied = Copied::new(claimed, 1);
        assert_eq!(copied.canonical(), copied.original);
    }
    let copied = Copied::new(Millis(0), 1);
    assert_eq!(engine_too(&copied.build, DAY(5)).canonical[&copied.ask], copied.original);
}

#[test]
fn a_copy_takes_the_place_by_half_a_step_of_the_score_more() {
    // Two confirms give 9 << 27, of which half a step is 1 << 26: the accomplice uses the copy, which is worth
    // 0.8 of its weight.
    for (let_in, weighs, replaces) in
        [(1, 13 << 26, true), (10, 11 << 23, true), (11, 9 << 23, false), (100, 8 << 20, false)]
    {
        let mut copied = Copied::new(Millis(0), let_in);
        copied.build.used(copied.accomplice, copied.copy, DAY(4));
        let views = copied.build.views(DAY(5));
        let w = weight(&views, copied.accomplice);
        assert_eq!((w, w.times(Fixed(800_000_000)).0 >= 1 << 26), (Fixed(weighs), replaces));
        assert_eq!(views.posts[&copied.original].score, Fixed(9 << 27));
        assert_eq!(copied.canonical() == copied.copy, replaces);
    }
}
