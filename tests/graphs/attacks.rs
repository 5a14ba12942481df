//! Attacks that were run against the rules, each with a number: how much whoever has so much trust, or makes so
//! much effort, can change at most. Tables are the oracle's; the engine is asked once, at the end.

mod arguments;
mod copies;
mod deceived;
mod strangers;
mod worn;

use super::*;
use wats_model::ids::GroupId;
use wats_oracle::Views;
use wats_oracle::build::Build;

/// The weight from which on a key counts.
const W_MIN: i64 = 5_000_000;

/// The smallest number that `r` takes to `W_MIN` or more.
const HEARD_FROM: i64 = 19 << 18;

/// How many contradictions that count leave a critic of this weight a force that is heard against an author of
/// that weight: at most 32 x weight / W_MIN, but for rounding.
fn heard(critic: Fixed, author: Fixed) -> usize {
    let force = |n: usize| critic.scale(32, n.max(32) as i64).rounded();
    let heard = |n: &usize| force(*n).0 >= W_MIN && 2 * force(*n).0 >= author.0;
    let most = (1..).take_while(heard).last().unwrap_or(0);
    assert!(most as i64 <= (32 * critic.0 / HEARD_FROM).max(32));
    most
}

/// So many new keys.
fn some_keys(b: &mut Build, many: usize) -> Vec<KeyId> {
    (0..many).map(|_| b.key()).collect()
}

/// A reader, and so many keys that it vouches for on the first day.
fn reader(b: &mut Build, many: usize) -> (KeyId, Vec<KeyId>) {
    let me = b.profile();
    let keys = some_keys(b, many);
    for k in &keys {
        b.vouch(me, *k, DAY(1));
    }
    (me, keys)
}

/// How many of these are contested.
fn contested(views: &Views, posts: &[EventId]) -> usize {
    posts.iter().filter(|p| views.posts[*p].status == Status::Contested).count()
}

/// The weight of a key.
fn weight(views: &Views, key: KeyId) -> Fixed {
    views.authors[&key].weight
}

/// The same story once more, told to the engine.
fn engine_too(build: &Build, now: Millis) -> Views {
    let mut story = Story::new();
    *story = build.clone();
    story.at(now)
}
