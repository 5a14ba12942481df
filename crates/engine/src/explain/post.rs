//! A post, explained: its argument tree (section 4) and its signals by voice (sections 2 and 6).

use super::Seen;
use super::text::amount;
use super::{EngineError, Naming};
use crate::labels::LabelAdvice;
use crate::summary::why;
use crate::view_set::counts;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use wats_dataflows::Introspection;
use wats_dataflows::contradictions::{Critic, Criticism, Outcome};
use wats_dataflows::decay::{Aged, AgedPair};
use wats_dataflows::labelling::{Label, Node};
use wats_dataflows::signals::{self, Cite, Stance};
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, KeyId, Millis};
use wats_model::policy::Policy;
use wats_model::views::{AuthorView, PostView};

/// Why a post has its status.
#[derive(Clone, Debug, Serialize)]
pub struct PostExplained {
    /// The network it belongs to.
    pub network: String,
    /// The label of the network, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_label: Option<LabelAdvice>,
    /// The post.
    pub post: Hex32,
    /// Its author.
    pub author: Hex32,
    /// The author's weight.
    pub author_weight: Fixed,
    /// The first words of its title.
    pub title: Option<Box<str>>,
    /// The first words of its text.
    pub text: Option<Box<str>>,
    /// Its status.
    pub status: &'static str,
    /// The line that says why, when there is one.
    pub why: Option<String>,
    /// Its score.
    pub score: Fixed,
    /// Its counts.
    pub counts: Value,
    /// Copies that the network should hold.
    pub replicas: u8,
    /// Events that argue against it, and what argues against them.
    pub arguments: Vec<Argument>,
    /// What keys say of it, those with the loudest voices first.
    pub signals: Vec<SignalsBy>,
}

/// An event that argues against another (section 4).
#[derive(Clone, Debug, Serialize)]
pub struct Argument {
    /// The event.
    pub event: Hex32,
    /// Its author, the critic.
    pub by: Hex32,
    /// The critic's weight.
    pub weight: Fixed,
    /// The critic's force: its weight, spread thin where it contradicts much.
    pub force: Fixed,
    /// The critic's voice.
    pub voice: Fixed,
    /// `IN`, `OUT` or `UNDEC`; none where the assertion does not count.
    pub label: Option<&'static str>,
    /// It is a react with evidence.
    pub evidence: bool,
    /// What it says.
    pub text: Option<Box<str>>,
    /// The event that it rests on.
    pub rests_on: Option<Hex32>,
    /// Why it is no attack, when it is none: dropped, or not counting.
    pub set_aside: Option<String>,
    /// It stands elsewhere in the tree, with what argues against it.
    pub again: bool,
    /// What argues against it.
    pub arguments: Vec<Argument>,
}

/// What a key says of a post.
#[derive(Clone, Debug, Serialize)]
pub struct SignalsBy {
    /// The key.
    pub by: Hex32,
    /// Its group.
    pub group: Hex32,
    /// Its class.
    pub class: Hex32,
    /// Its voice.
    pub voice: Fixed,
    /// Its signals.
    pub signals: Vec<Signal>,
    /// What they add to the score, before only the largest of a group and of a class counts.
    pub contribution: Fixed,
    /// What became of its contradiction.
    pub verdict: Option<Verdict>,
    /// Support has outlived it: it contests the post no more, and is not counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlived: bool,
    /// Why some or all of it does not count, when it does not.
    pub set_aside: Option<&'static str>,
}

/// A signal (section 2).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Signal {
    /// Which.
    pub kind: &'static str,
    /// With which evidence: `artifact`, or of a confirm `text`.
    pub evidence: Option<&'static str>,
    /// Its value.
    pub value: Fixed,
    /// At most two half-lives old.
    pub live: bool,
    /// Its clock.
    pub clock: u64,
    /// How long ago that was, in whole days.
    pub days: u64,
}

/// What became of a contradiction (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// One of its arguments is IN.
    Stands,
    /// None is IN and one is UNDEC.
    Undecided,
    /// All are OUT.
    Rebutted,
    /// It has no assertion that counts.
    Ignored,
}

/// What a worker knows of a post.
#[derive(Default)]
struct Known {
    nodes: Vec<Node>,
    criticisms: HashMap<EventId, Criticism>,
    pairs: Vec<AgedPair>,
    verdicts: BTreeMap<KeyId, Outcome>,
    /// Whose contradictions support has outlived.
    outlived: BTreeSet<KeyId>,
}

impl Known {
    fn ask(inside: &Introspection, post: EventId) -> Known {
        let contradictions = inside.contradictions.borrow();
        let nodes = contradictions.framework(post);
        let events: HashSet<EventId> = nodes.iter().map(|node| node.event).collect();
        let mut criticisms: HashMap<EventId, Criticism> =
            events.iter().filter_map(|e| Some((*e, contradictions.criticism(*e)?))).collect();
        // An argument is also attacked by the critics of what it rests on.
        let arguments = criticisms.values().flat_map(|c| &c.critics).flat_map(|c| &c.arguments);
        let rests: Vec<EventId> =
            arguments.filter(|y| events.contains(&y.event)).filter_map(|y| y.rests_on).collect();
        criticisms.extend(rests.iter().filter_map(|e| Some((*e, contradictions.criticism(*e)?))));
        let statuses = inside.statuses.borrow();
        let verdicts = statuses.verdicts_on(post).into_iter().map(|v| (v.by, v.outcome)).collect();
        let (pairs, outlived) = (inside.signals.borrow().on(post), statuses.outlived_on(post));
        Known { criticisms, nodes, pairs, verdicts, outlived }
    }

    fn join(mut self, other: Known) -> Known {
        if other.nodes.len() > self.nodes.len() {
            self.nodes = other.nodes;
        }
        self.criticisms.extend(other.criticisms);
        self.pairs.extend(other.pairs);
        self.verdicts.extend(other.verdicts);
        self.outlived.extend(other.outlived);
        self
    }
}

/// Explains a post; none when it is not held or not post-like.
pub(super) fn explain(seen: Seen<'_>, event: EventId) -> Result<Option<PostExplained>, EngineError> {
    let Some(post) = seen.document.posts.get(&event) else {
        return Ok(None);
    };
    let answers = seen.engine.ask(move |inside| Known::ask(inside, event))?;
    let known = answers.into_iter().fold(Known::default(), Known::join);
    Ok(Some(Explaining::new(seen, post, known).all()))
}

struct Explaining<'a> {
    seen: Seen<'a>,
    naming: Naming<'a>,
    post: &'a PostView,
    known: Known,
    /// Where each event stands among the nodes.
    places: HashMap<EventId, usize>,
    /// What is known of each event as an argument.
    given: HashMap<EventId, signals::Argument>,
    /// `force(A)` of each critic.
    force: HashMap<KeyId, Fixed>,
}

impl<'a> Explaining<'a> {
    fn new(seen: Seen<'a>, post: &'a PostView, known: Known) -> Explaining<'a> {
        let places = known.nodes.iter().enumerate().map(|(at, node)| (node.event, at)).collect();
        let critics = known.criticisms.values().flat_map(|c| &c.critics);
        let force = critics.clone().map(|c| (c.by, c.force)).collect();
        let given = critics.flat_map(|c| &c.arguments).map(|y| (y.event, *y)).collect();
        Explaining { seen, naming: Naming(seen), post, known, places, given, force }
    }

    fn all(&self) -> PostExplained {
        let (post, intake) = (self.post, &self.seen.intake);
        let held = intake.held(post.post);
        PostExplained {
            network: self.naming.network(intake.event_network(post.post)),
            network_label: self.naming.label(intake.event_network(post.post)),
            post: self.naming.event(post.post),
            author: self.naming.key(post.author),
            author_weight: self.author(post.author).map_or(Fixed::ZERO, |a| a.weight),
            title: held.and_then(|h| h.title.clone()),
            text: held.and_then(|h| h.quote.clone()),
            status: post.status.name(),
            why: why(post, intake),
            score: post.score,
            counts: counts(&post.counts),
            replicas: post.replicas,
            arguments: self.arguments(post.post, 0, &mut HashSet::new()),
            signals: self.signals(),
        }
    }

    fn policy(&self) -> &Policy {
        &self.seen.intake.config().policy
    }

    fn author(&self, key: KeyId) -> Option<&AuthorView> {
        self.seen.document.authors.get(&key)
    }

    fn weight(&self, key: KeyId) -> Fixed {
        self.author(key).map_or(Fixed::ZERO, |a| a.weight)
    }

    fn force(&self, key: KeyId) -> Fixed {
        self.force.get(&key).copied().unwrap_or_else(|| self.weight(key))
    }

    fn voice(&self, key: KeyId) -> Fixed {
        self.author(key).map_or(Fixed::ZERO, |a| a.voice)
    }

    /// What argues against an event: the assertions of the framework, dropped ones included, and
    /// those that do not count. Each event is followed once, where it is nearest to the post.
    fn arguments(&self, event: EventId, depth: usize, seen: &mut HashSet<EventId>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let node = self.places.get(&event).map(|at| &self.known.nodes[*at]);
        for (by, at, remains) in node.iter().flat_map(|node| &node.assertions) {
            let y = &self.known.nodes[*at];
            let dropped = (!remains).then(|| "dropped: it would argue in its own cause".to_owned());
            let mut argument = self.argument(*by, y.event, Some(label(y.label)), dropped);
            if y.depth == depth + 1 && seen.insert(y.event) {
                argument.arguments = self.arguments(y.event, depth + 1, seen);
            } else {
                argument.again = true;
            }
            arguments.push(argument);
        }
        for (on, criticism) in self.criticisms_of(event) {
            for critic in criticism.critics.iter().filter(|c| !c.counts) {
                let mut reason = self.not_counting(critic, criticism);
                if on != event {
                    reason.push_str(" (of what it rests on)");
                }
                let told =
                    |y: &signals::Argument| self.argument(critic.by, y.event, None, Some(reason.clone()));
                arguments.extend(critic.arguments.iter().map(told));
            }
        }
        arguments
    }

    /// The contradictions of an event, and of the event that it rests on.
    fn criticisms_of(&self, event: EventId) -> impl Iterator<Item = (EventId, &Criticism)> {
        let rest = self.given.get(&event).and_then(|y| y.rests_on);
        let events = [Some(event), rest].into_iter().flatten();
        events.filter_map(|event| Some((event, self.known.criticisms.get(&event)?)))
    }

    fn argument(
        &self,
        by: KeyId,
        event: EventId,
        label: Option<&'static str>,
        set_aside: Option<String>,
    ) -> Argument {
        let given = self.given.get(&event);
        let rests_on = given.and_then(|y| y.rests_on);
        // A react that rests on an own event says what that says.
        let speaks = rests_on.unwrap_or(event);
        Argument {
            event: self.naming.event(event),
            by: self.naming.key(by),
            weight: self.weight(by),
            force: self.force(by),
            voice: self.voice(by),
            label,
            evidence: given.is_some_and(|y| y.evidence),
            text: self.seen.intake.held(speaks).and_then(|held| held.quote.clone()),
            rests_on: rests_on.map(|event| self.naming.event(event)),
            set_aside,
            again: false,
            arguments: Vec::new(),
        }
    }

    fn not_counting(&self, critic: &Critic, criticism: &Criticism) -> String {
        let (w_min, needed, joint) = (self.policy().w_min, criticism.needed, criticism.joint);
        let (weight, voice) = (self.weight(critic.by), self.voice(critic.by));
        let [least, needed, joint, has, speaks] = [w_min, needed, joint, weight, voice].map(amount);
        if self.distrusts(critic.by) {
            return "does not count: the reader distrusts the critic".to_owned();
        }
        if weight < w_min {
            return format!("does not count: the critic's weight is {has}, and {least} is needed");
        }
        let has = amount(critic.force);
        if critic.force < w_min {
            return format!(
                "does not count: the critic contradicts so much that its force is {has}, and {least} is needed"
            );
        }
        if !critic.heard {
            return format!("does not count: the critic's voice is {speaks}, and {least} is needed");
        }
        let factor = self.policy().critic_factor;
        format!(
            "does not count: too light, {factor} times {has} alone or {joint} together is less than the \
             author's {needed}"
        )
    }

    fn signals(&self) -> Vec<SignalsBy> {
        let mut signals: Vec<SignalsBy> = self.known.pairs.iter().map(|pair| self.signals_by(pair)).collect();
        signals.retain(|s| !s.signals.is_empty());
        signals.sort_by_key(|s| (std::cmp::Reverse((s.voice, s.contribution)), s.by));
        signals
    }

    fn signals_by(&self, pair: &AgedPair) -> SignalsBy {
        let by = pair.pair.by;
        let (author, voice) = (self.author(by), self.voice(by));
        let partial = author.zip(self.author(self.post.author)).is_some_and(|(a, b)| partial(a, b));
        let verdict = pair.contradiction(self.policy()).map(|_| match self.known.verdicts.get(&by) {
            Some(Outcome::Stands) => Verdict::Stands,
            Some(Outcome::Undecided) => Verdict::Undecided,
            Some(Outcome::Rebutted { .. }) => Verdict::Rebutted,
            None => Verdict::Ignored,
        });
        let signals = self.signals_of(pair);
        let largest = |kinds: &[&str]| {
            let values = signals.iter().filter(|s| kinds.contains(&s.kind)).map(|s| s.value);
            values.max().unwrap_or_default()
        };
        let against = match verdict {
            Some(Verdict::Stands) => largest(&["contradiction"]),
            _ => largest(&["vote down"]),
        };
        let positive = largest(&["accept", "confirm", "use", "cite", "reply", "vote up"]);
        let in_favour = if partial { Fixed::ZERO } else { positive };
        SignalsBy {
            by: self.naming.key(by),
            group: author.map(|a| self.naming.group(a.group)).unwrap_or_default(),
            class: author.map(|a| self.naming.group(a.class)).unwrap_or_default(),
            voice,
            contribution: if voice < self.policy().w_min {
                Fixed::ZERO
            } else {
                voice.times(in_favour) - voice.times(against)
            },
            verdict,
            outlived: self.known.outlived.contains(&by),
            set_aside: self.set_aside(by, partial),
            signals,
        }
    }

    /// Whether the reader will not hear a key.
    fn distrusts(&self, key: KeyId) -> bool {
        let intake = self.seen.intake;
        intake.key_network(key).is_some_and(|network| intake.config().distrusted(network).contains(&key))
    }

    fn set_aside(&self, by: KeyId, partial: bool) -> Option<&'static str> {
        let voice = self.voice(by);
        match (voice >= self.policy().w_min, partial) {
            _ if self.distrusts(by) => Some("of a key that the reader distrusts: does not count"),
            (_, true) => Some("partial to the author: what it says in favour does not count"),
            (false, false) if voice == Fixed::ZERO => Some("without a voice: does not count"),
            (false, false) => Some("without weight: does not count"),
            (true, false) => None,
        }
    }

    fn signals_of(&self, pair: &AgedPair) -> Vec<Signal> {
        let policy = self.policy();
        let now = self.seen.now;
        let signal = |kind, evidence, aged: Aged, base| Signal {
            kind,
            evidence,
            value: aged.value(base),
            live: aged.live(policy),
            clock: aged.clock.0,
            days: now.since(aged.clock).0 / Millis::DAY.0,
        };
        let of = |artifact| Some(if artifact { "artifact" } else { "text" });
        let stance = pair.stance.map(|(stance, aged)| match stance {
            Stance::Confirm { artifact } => {
                let base = pair.confirm(policy).map_or(Fixed::ZERO, |(_, base)| base);
                signal("confirm", of(artifact), aged, base)
            }
            Stance::Contradiction { artifact } => {
                let base = pair.contradiction(policy).map_or(Fixed::ZERO, |(_, base)| base);
                signal("contradiction", artifact.then_some("artifact"), aged, base)
            }
            Stance::VoteUp => signal("vote up", None, aged, policy.base_vote),
            Stance::VoteDown => signal("vote down", None, aged, policy.base_vote),
        });
        let accept = pair.accept.map(|aged| signal("accept", None, aged, policy.base_accept));
        let used = pair.used.map(|aged| signal("use", None, aged, policy.base_use));
        let cite = pair.cite.map(|(cite, aged)| match cite {
            Cite::Citation => signal("cite", None, aged, policy.base_cite),
            Cite::Reply => signal("reply", None, aged, policy.base_reply),
        });
        [accept, stance, used, cite].into_iter().flatten().collect()
    }
}

/// A is partial to B (section 3, *Partial*).
fn partial(a: &AuthorView, b: &AuthorView) -> bool {
    a.key == b.key || a.group == b.group || (a.class != a.group && a.class == b.class)
}

fn label(label: Label) -> &'static str {
    match label {
        Label::In => "IN",
        Label::Out => "OUT",
        Label::Undec => "UNDEC",
    }
}
