//! What the batch oracle says of a log.

use std::collections::BTreeMap;
use std::io::Read;
use wats_config::Config;
use wats_engine::interner::{Change, Interner};
use wats_event::Hex32;
use wats_event::log::{Options, Record, Source, read};
use wats_generate::{Generator, Plan};
use wats_model::facts::EventFact;
use wats_model::ids::{BlobId, EventId, Millis};
use wats_model::views::PostView;
use wats_oracle::{State, Views, evaluate};

/// A log that was read, every record of it valid.
pub(crate) struct Log {
    intake: Interner,
    events: BTreeMap<EventId, EventFact>,
    blobs: Vec<BlobId>,
    /// The largest `received_at`.
    pub now: Millis,
}

impl Log {
    /// Generates and reads a log.
    pub(crate) fn of(plan: &Plan) -> Log {
        let config = Config::parse(&plan.config(), "wats.toml").expect("a configuration");
        Log::read(Generator::new(plan).lines(), &config, plan.signed)
    }

    /// Reads a log.
    pub(crate) fn read(bytes: impl Read + Send + 'static, config: &Config, signed: bool) -> Log {
        let mut log = Log {
            intake: Interner::new(config).expect("few networks"),
            events: BTreeMap::new(),
            blobs: Vec::new(),
            now: Millis(0),
        };
        let source = Source::from_reader("a log", bytes).expect("bytes");
        let options = Options { skip_signatures: !signed, ..Options::new(config.rules()) };
        for line in read(source, &options) {
            let line = line.expect("read to its end");
            log.take(&line.outcome.expect("a valid record"), line.received_at);
        }
        log
    }

    fn take(&mut self, record: &Record, received_at: Millis) {
        let mut changes = Vec::new();
        match record {
            Record::Event(event) => {
                let taken = self.intake.event(event, received_at, &mut changes);
                taken.expect("few names");
            }
            Record::Blob { blob, present } => {
                let taken = self.intake.blob(*blob, *present, received_at, &mut changes);
                taken.expect("few names");
            }
        }
        for change in changes {
            match change {
                Change::Event(fact, 1) => drop(self.events.insert(fact.id, *fact)),
                Change::Event(fact, _) => drop(self.events.remove(&fact.id)),
                Change::Blob(blob, 1) => self.blobs.push(blob),
                Change::Blob(blob, _) => self.blobs.retain(|b| *b != blob),
            }
        }
        self.now = self.now.max(received_at);
    }

    /// The views at a time.
    pub(crate) fn views(&self, now: Millis) -> Views {
        let events: Vec<EventFact> = self.events.values().cloned().collect();
        evaluate(&State { config: self.intake.config(), events: &events, blobs: &self.blobs, now })
    }

    /// The views of posts, by name.
    pub(crate) fn posts(&self, views: &Views) -> BTreeMap<Hex32, PostView> {
        let name = |id| self.name(id);
        let posts = views.posts.values();
        posts.map(|view| (name(view.post), view.clone())).collect()
    }

    /// The name of an event.
    pub(crate) fn name(&self, id: EventId) -> Hex32 {
        self.intake.event_name(id).expect("a held event")
    }
}
