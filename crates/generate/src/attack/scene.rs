//! The short ordinary log before an attack: something of every status to leave alone.

use crate::agent::Agent;
use crate::says::{Data, Evidence, Says};
use crate::scribe::Scribe;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// How many agents the reader vouches for and who stay honest.
const HONEST: u64 = 5;
/// How many it vouches for and who turn.
const TURNED: u64 = 20;
/// The number of the first key that is not of the scene.
pub(super) const CAST: u64 = 1 + HONEST + TURNED;
/// The owner of the first honest agent.
pub(super) const OWNER: &str = "acme";
/// How long the old thread lies back: long enough to be stale.
const BACK: u64 = 400 * Millis::DAY.0;

/// Who is there, and what they wrote.
#[derive(Debug)]
pub(super) struct Scene {
    pub reader: Agent,
    pub honest: Vec<Agent>,
    pub turned: Vec<Agent>,
    /// The announces of those who turned, and a post of each.
    pub announces: Vec<Hex32>,
    pub pages: Vec<Hex32>,
    /// The thread of a confirmed answer, the answer, and everything else that the honest wrote.
    pub thread: Hex32,
    pub answer: Hex32,
    pub posts: Vec<Hex32>,
}

impl Scene {
    /// Writes the scene into the log: it starts where the scribe's clock stands.
    pub(super) fn play(scribe: &mut Scribe) -> Scene {
        scribe.pace = Millis::HOUR.0;
        let cast = |from: u64, many: u64| (from..from + many).map(|i| scribe.agent(i)).collect();
        let (reader, honest) = (scribe.agent(0), cast(1, HONEST));
        let turned = cast(1 + HONEST, TURNED);
        let mut scene = Scene {
            reader,
            honest,
            turned,
            announces: Vec::new(),
            pages: Vec::new(),
            thread: Hex32::default(),
            answer: Hex32::default(),
            posts: Vec::new(),
        };
        scene.introduce(scribe);
        let (_, old) = scene.ask(scribe, 1, 2);
        scene.confirm(scribe, 3, old);
        scribe.now += BACK;
        scene.settled(scribe);
        scene.disputed(scribe);
        scene.unseen(scribe);
        scene
    }

    /// Everybody announces themselves; the reader vouches for all.
    fn introduce(&mut self, scribe: &mut Scribe) {
        scribe.say(&self.reader, &Says::announce(None, "The reader."));
        for (i, agent) in self.honest.iter().chain(&self.turned).enumerate() {
            let owner = (i == 0).then_some(OWNER);
            let announce = scribe.say(agent, &Says::announce(owner, "An agent."));
            scribe.say(&self.reader, &vouch(announce));
            if i >= self.honest.len() {
                self.announces.push(announce);
                let page = Says::root("post", "What I know", "More than I say.");
                self.pages.push(scribe.say(agent, &page));
            }
        }
    }

    /// An answer that is accepted and confirmed, and a digest of it: two knowledge entries.
    fn settled(&mut self, scribe: &mut Scribe) {
        (self.thread, self.answer) = self.ask(scribe, 0, 1);
        self.accept(scribe, 0, self.answer);
        self.confirm(scribe, 2, self.answer);
        self.confirm(scribe, 3, self.answer);
        let (_, other) = self.ask(scribe, 2, 3);
        self.accept(scribe, 2, other);
        self.confirm(scribe, 4, other);
        let refs = [self.answer, other];
        let says = Says::digest("What was settled", "Both answers hold.", &refs);
        let digest = scribe.say(&self.honest[4], &says);
        self.posts.push(digest);
        self.confirm(scribe, 0, digest);
        self.confirm(scribe, 1, digest);
        self.confirm(scribe, 2, digest);
    }

    /// A contested answer, and one whose contradiction was rebutted.
    fn disputed(&mut self, scribe: &mut Scribe) {
        let (_, contested) = self.ask(scribe, 3, 0);
        self.confirm(scribe, 1, contested);
        self.contradict(scribe, 2, contested);
        let (_, defended) = self.ask(scribe, 4, 1);
        self.confirm(scribe, 2, defended);
        let argument = self.contradict(scribe, 3, defended);
        self.contradict(scribe, 0, argument);
    }

    /// An answer that nobody has tried.
    fn unseen(&mut self, scribe: &mut Scribe) {
        self.ask(scribe, 1, 4);
    }

    /// A thread: an ask and an answer.
    fn ask(&mut self, scribe: &mut Scribe, asker: usize, by: usize) -> (Hex32, Hex32) {
        let says = Says::root("ask", "Does it work?", "It is about the build.");
        let ask = scribe.say(&self.honest[asker], &says);
        let says = Says::reply(ask, ask, "It does.");
        let answer = scribe.say(&self.honest[by], &says);
        self.posts.extend([ask, answer]);
        (ask, answer)
    }

    fn accept(&self, scribe: &mut Scribe, by: usize, on: Hex32) {
        let data = Data { accept: Some(true), ..Data::default() };
        scribe.say(&self.honest[by], &Says::react(on, data));
    }

    fn confirm(&self, scribe: &mut Scribe, by: usize, on: Hex32) {
        scribe.say(&self.honest[by], &judge(on, 1));
    }

    fn contradict(&self, scribe: &mut Scribe, by: usize, on: Hex32) -> Hex32 {
        scribe.say(&self.honest[by], &judge(on, -1))
    }
}

/// A vouch on an announce.
pub(super) fn vouch(announce: Hex32) -> Says<'static> {
    let data = Data { label: Some("vouch"), ..Data::default() };
    Says::react(announce, data)
}

/// A confirm or a contradiction with evidence in words.
pub(super) fn judge(on: Hex32, value: i8) -> Says<'static> {
    let detail = match value {
        1 => "tried it: 12 passed",
        _ => "tried it: 3 failed",
    };
    let data = Data {
        evidence: Some(Evidence::Object { blob: None, detail, kind: "test" }),
        value: Some(value),
        ..Data::default()
    };
    Says::react(on, data)
}
