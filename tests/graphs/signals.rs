//! Section 2: what each key says of each event.

use super::*;

#[test]
fn used_with_evidence_also_confirms() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.react(friend, React { used: Some(true), evidence: Evidence::Text, ..react(post) }, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, Counts { confirmations: 1, uses: 1, ..NONE });
}

#[test]
fn used_with_a_value_says_only_what_it_says() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let (used, value) = (Some(true), Some(0));
    s.react(friend, React { used, value, evidence: Evidence::Text, ..react(post) }, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, Counts { uses: 1, ..NONE });
}

#[test]
fn a_vote_becomes_a_confirm_with_evidence_and_stays_one_in_its_run() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 1, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, Counts { votes_up: 1, ..NONE });
    s.confirm(friend, post, DAY(4));
    assert_eq!(s.post_at(post, DAY(4)).counts, Counts { confirmations: 1, ..NONE });
    s.vote(friend, post, 1, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts, Counts { confirmations: 1, ..NONE });
}

#[test]
fn a_run_ends_where_the_value_changes() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    s.vote(friend, post, -1, DAY(4));
    assert_eq!(s.post_at(post, DAY(4)).counts, Counts { votes_down: 1, ..NONE });
    s.vote(friend, post, 1, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts, Counts { votes_up: 1, ..NONE });
}

#[test]
fn zero_takes_a_stance_back() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    assert_eq!(s.status(post, DAY(3)), Status::Confirmed);
    s.vote(friend, post, 0, DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
}

#[test]
fn the_latest_is_by_claim_not_by_arrival() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 0, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts, NONE);
    let earlier = s.vote(friend, post, 1, DAY(4));
    s.received(earlier, DAY(6));
    assert_eq!(s.post_at(post, DAY(6)).counts, NONE);
}

#[test]
fn of_many_reacts_the_64_latest_are_considered() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    for _ in 0..63 {
        s.renew(friend, post, DAY(4));
    }
    assert_eq!(s.status(post, DAY(4)), Status::Confirmed);
    s.renew(friend, post, DAY(4));
    assert_eq!(s.status(post, DAY(5)), Status::Unverified);
}

#[test]
fn an_artifact_is_worth_more_while_the_node_holds_it() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.show(friend, post, 1, BlobId(0), DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).score, full(600_000_000));
    s.blobs.push(BlobId(0));
    assert_eq!(s.post_at(post, DAY(3)).score, FULL);
    s.blobs.clear();
    assert_eq!(s.post_at(post, DAY(4)).score, full(600_000_000));
}

#[test]
fn minus_one_without_an_argument_is_a_vote() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    let view = s.post_at(post, DAY(3));
    assert_eq!((view.status, view.counts), (Status::Unverified, Counts { votes_down: 1, ..NONE }));
    assert_eq!(view.score, -full(100_000_000));
    let own = s.post(critic, DAY(4));
    s.contradict_naming(critic, post, &[own], DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
}

#[test]
fn somebody_elses_post_is_no_argument() {
    let (mut s, _, [author, critic, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let truth = s.post(other, DAY(2));
    s.contradict_naming(critic, post, &[truth], DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, Counts { votes_down: 1, ..NONE });
}

#[test]
fn a_named_post_is_an_argument_once_it_is_held() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let own = s.post(critic, DAY(3));
    s.received(own, DAY(5));
    s.contradict_naming(critic, post, &[own], DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
    assert_eq!(s.status(post, DAY(5)), Status::Contested);
}

#[test]
fn a_reply_up_to_an_hour_before_or_after_the_react_is_its_reason() {
    let hour = Millis::HOUR.0;
    for (react, reply, status) in [
        (hour, 0, Status::Contested),
        (hour + 1, 0, Status::Unverified),
        (0, hour, Status::Contested),
        (0, hour + 1, Status::Unverified),
    ] {
        let (mut s, _, [author, critic]) = Story::vouched();
        let post = s.post(author, DAY(2));
        s.reply(critic, post, post, DAY(3).after(Millis(reply)));
        s.vote(critic, post, -1, DAY(3).after(Millis(react)));
        assert_eq!(s.status(post, DAY(4)), status);
    }
}

#[test]
fn thanks_a_week_after_a_bare_minus_argue_only_when_a_react_names_them() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    let later = s.reply(critic, post, post, DAY(10));
    let view = s.post_at(post, DAY(10));
    assert_eq!((view.status, view.counts), (Status::Unverified, Counts { votes_down: 1, ..NONE }));
    s.contradict_naming(critic, post, &[later], DAY(11));
    assert_eq!(s.status(post, DAY(11)), Status::Contested);
}

#[test]
fn a_reply_is_the_reason_of_the_run_that_it_was_written_beside() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    s.reply(critic, post, post, DAY(3));
    assert_eq!(s.status(post, DAY(3)), Status::Contested);
    s.vote(critic, post, 0, DAY(4));
    s.vote(critic, post, -1, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts, Counts { votes_down: 1, ..NONE });
}

#[test]
fn a_blank_reply_is_no_reason() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    let reply = s.reply(critic, post, post, DAY(3));
    s.post_mut(reply).blank = true;
    assert_eq!(s.status(post, DAY(3)), Status::Unverified);
    s.post_citing(critic, &[post], DAY(3).after(MS));
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
}

#[test]
fn a_use_is_taken_back() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts.uses, 1);
    s.react(friend, React { used: Some(false), ..react(post) }, DAY(4));
    assert_eq!(s.post_at(post, DAY(4)).counts, NONE);
}

#[test]
fn only_the_asker_accepts() {
    let (mut s, _, [asker, helper, other]) = Story::vouched();
    let ask = s.ask(asker, DAY(2));
    let answer = s.answer(helper, ask, DAY(3));
    s.accept(other, answer, DAY(4));
    assert_eq!(s.post_at(answer, DAY(4)).counts, NONE);
    s.accept(asker, answer, DAY(5));
    assert_eq!(s.post_at(answer, DAY(5)).counts, Counts { accepts: 1, ..NONE });
}

#[test]
fn of_two_accepts_in_a_thread_the_later_counts() {
    let (mut s, _, [asker, helper, other]) = Story::vouched();
    let ask = s.ask(asker, DAY(2));
    let [first, second] = [helper, other].map(|k| s.answer(k, ask, DAY(3)));
    s.accept(asker, first, DAY(4));
    s.accept(asker, second, DAY(5));
    let views = s.at(DAY(5));
    assert_eq!([first, second].map(|p| views.posts[&p].counts.accepts), [0, 1]);
    s.react(asker, React { accept: Some(false), ..react(second) }, DAY(6));
    let views = s.at(DAY(6));
    assert_eq!([first, second].map(|p| views.posts[&p].counts.accepts), [1, 0]);
}

#[test]
fn an_answer_is_in_no_thread_before_its_parent_is_held() {
    let (mut s, _, [asker, helper, other]) = Story::vouched();
    let ask = s.ask(asker, DAY(2));
    let between = s.answer(other, ask, DAY(3));
    s.received(between, DAY(6));
    let answer = s.reply(helper, between, ask, DAY(4));
    s.accept(asker, answer, DAY(5));
    assert_eq!(s.post_at(answer, DAY(5)).counts.accepts, 0);
    assert_eq!(s.post_at(answer, DAY(6)).counts.accepts, 1);
}

#[test]
fn a_cite_is_later_than_what_it_cites_and_one_for_each_key() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(3));
    s.post_citing(friend, &[post], DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, NONE);
    s.reply(friend, post, post, DAY(4));
    s.post_citing(friend, &[post, post], DAY(4));
    assert_eq!(s.post_at(post, DAY(4)).counts, Counts { cites: 1, ..NONE });
    s.post_citing(other, &[post], DAY(5));
    let view = s.post_at(post, DAY(5));
    assert_eq!((view.status, view.counts), (Status::Unverified, Counts { cites: 2, ..NONE }));
    assert_eq!(view.score.0, 2 * full(300_000_000).0);
}

#[test]
fn a_reply_is_no_citation() {
    // 0.05 of 15 << 26 is 12 << 22; 0.3 of it is 18 << 24.
    assert_eq!([50_000_000, 300_000_000].map(full), [Fixed(12 << 22), Fixed(9 << 25)]);
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.reply(friend, post, post, DAY(3));
    let view = s.post_at(post, DAY(3));
    assert_eq!((view.score, view.counts), (full(50_000_000), Counts { cites: 1, ..NONE }));
    // More replies are one still; one post elsewhere that cites makes a citation of it.
    for day in 4..8 {
        s.reply(friend, post, post, DAY(day));
    }
    assert_eq!(s.post_at(post, DAY(8)).score, full(50_000_000));
    s.post_citing(friend, &[post], DAY(9));
    let view = s.post_at(post, DAY(9));
    assert_eq!((view.score, view.counts), (full(300_000_000), Counts { cites: 1, ..NONE }));
}

#[test]
fn a_post_whose_parent_is_named_in_its_refs_too_is_a_reply() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let (post, other) = (s.post(author, DAY(2)), s.post(author, DAY(2)));
    let thanks = s.reply(friend, post, post, DAY(3));
    s.post_mut(thanks).refs = [post, other].into();
    let views = s.at(DAY(3));
    // What it names beside its parent it cites.
    assert_eq!([post, other].map(|p| views.posts[&p].score), [full(50_000_000), full(300_000_000)]);
}

#[test]
fn a_citation_is_as_old_as_the_first_that_cites_not_as_a_reply_before() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.reply(friend, post, post, DAY(3));
    s.post_citing(friend, &[post], DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, full(300_000_000));
    assert_eq!(s.post_at(post, DAY(363)).score, full(150_000_000));
}

#[test]
fn who_votes_down_does_not_cite() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.post_citing(friend, &[post], DAY(3));
    s.vote(friend, post, -1, DAY(10));
    // The post is older than an hour before the vote, so it is no reason either.
    assert_eq!(s.post_at(post, DAY(10)).counts, Counts { votes_down: 1, ..NONE });
}

#[test]
fn nobody_signals_on_their_own_post() {
    let (mut s, _, [author]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(author, post, DAY(3));
    s.used(author, post, DAY(3));
    s.post_citing(author, &[post], DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.status, view.score, view.counts), (Status::Unverified, Fixed::ZERO, NONE));
}
