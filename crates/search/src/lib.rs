//! Search: what was checked comes first (decision record, 3.2 and 5.2).
//!
//! ```text
//!  store ─▶ indexer ─▶ index ─▶ candidates ─▶ bands ─▶ hits
//!  sequence  document   BM25     by relevance  views    events and views
//! ```
//!
//! The index knows words, and nothing that changes: statuses, scores and reputations are read when a query
//! is answered, all from one snapshot of the store. So a status shown is never older than the views, and a
//! change of one is seen by the next query.
//!
//! How many results are ranked is bounded: the [`CANDIDATES`] most relevant (the newest, where a query only
//! filters), in bands of at most [`MAX_BAND`]. Where more are of like relevance, as for one common word, a
//! band is cut there, and what is checked but beyond is not moved up; [`Page::complete`] tells of the first.

mod compile;
pub mod document;
mod find;
mod index;
mod indexer;
mod pages;
pub mod query;
pub mod rank;
mod scoped;
pub mod snippet;
pub mod tokenizer;

pub use find::Search;
pub use index::{Index, Mark};
pub use indexer::{Followed, Indexer, catch_up};
pub use query::{Kind, QueryError};
pub use snippet::Snippet;

use serde::{Serialize, Serializer};
use std::io;
use std::path::PathBuf;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_model::views::{Counts, Status};
use wats_store::StoreError;

/// How many results of a query are ranked and can be paged through, at most.
pub const CANDIDATES: usize = 1_000;
/// How many are looked at where statuses filter: those that pass are ranked.
pub const FILTERED_CANDIDATES: usize = 4_000;
/// How many results a band holds at most: about so many views are read for a page.
pub const MAX_BAND: usize = 250;
/// The most hits of a page.
pub const MAX_HITS: usize = 50;
/// The hits of a page, where nobody says how many.
pub const HITS: usize = 10;

/// Why a search cannot be answered, or the index cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is wrong: the client's to mend.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A filter is wrong: the client's to mend.
    #[error("the filter `{name}` is wrong: {what}")]
    Filter {
        /// Which.
        name: &'static str,
        /// What is wrong, and what to do.
        what: String,
    },
    /// There is no query, and no filter either.
    #[error("there is nothing to search for: give a word, or a filter")]
    Nothing,
    /// The cursor was not made by a search.
    #[error("invalid cursor: pass the cursor of the page before on unchanged")]
    NoCursor,
    /// The cursor was made by another store.
    #[error("the cursor is of another store: search again from the beginning")]
    OtherStore,
    /// The cursor is not remembered any more.
    #[error("the cursor is too old: search again from the beginning")]
    TooOld,
    /// The cursor is of another search.
    #[error("the cursor is of another search: pass it on with the same query and filters")]
    OtherSearch,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index.
    #[error("the search index failed: {0}; it is made again from the store when it is damaged")]
    Index(#[from] tantivy::TantivyError),
    /// A file of the index.
    #[error("{}: {cause}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Chance(String),
}

impl SearchError {
    /// Whether the client can correct it.
    pub fn is_of_client(&self) -> bool {
        match self {
            SearchError::Query(_)
            | SearchError::Filter { .. }
            | SearchError::Nothing
            | SearchError::NoCursor
            | SearchError::OtherStore
            | SearchError::TooOld
            | SearchError::OtherSearch => true,
            SearchError::Store(_)
            | SearchError::Index(_)
            | SearchError::File { .. }
            | SearchError::Chance(_) => false,
        }
    }
}

impl From<io::Error> for SearchError {
    fn from(error: io::Error) -> SearchError {
        SearchError::Index(error.into())
    }
}

/// What is asked beside the query; all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// One of these statuses; any, where it is empty.
    pub statuses: Vec<Status>,
    /// At least this status: contested < unverified < stale < confirmed.
    pub min_status: Option<Status>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// This kind.
    pub kind: Option<Kind>,
    /// This author: a key, or its first eight or more digits.
    pub author: Option<String>,
    /// The thread of this root.
    pub thread: Option<Hex32>,
    /// Created at this time or later.
    pub since: Option<Millis>,
    /// Created before this time.
    pub before: Option<Millis>,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The network; nothing of another is found.
    pub network: String,
    /// The query, see [`query`].
    pub query: String,
    /// What else is asked.
    pub filter: Filter,
    /// Whether authors below the threshold are shown.
    pub include_low: bool,
    /// How many hits: [`HITS`] where it is 0, [`MAX_HITS`] at most.
    pub limit: usize,
    /// Where to go on: [`Page::cursor`] of the page before.
    pub cursor: Option<String>,
}

/// Some hits. It holds no number that is derived from trust but counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The hits, in order.
    pub hits: Vec<Hit>,
    /// Where to go on; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether everything that matched can be paged through as it was found. It is false while more than
    /// the first candidates may follow; at the last page it tells that more than [`CANDIDATES`] matched,
    /// and a narrower query may find others.
    pub complete: bool,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The event.
    pub id: Hex32,
    /// What it is.
    pub kind: Kind,
    /// Its author.
    pub author: Hex32,
    /// The root of its thread.
    pub thread: Hex32,
    /// The author's claim of when, in Unix milliseconds.
    pub created_at: Millis,
    /// Its title, or that of its thread; one line, without hidden characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The part of its text that shows best why it was found.
    pub snippet: Snippet,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its status.
    #[serde(serialize_with = "status")]
    pub status: Status,
    /// Why it is contested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many voices said what about it.
    pub counts: Counts,
    /// Whether it is a knowledge entry.
    pub knowledge: bool,
    /// Where it comes from: what a digest cites, and the threads that an entry covers.
    pub sources: Vec<Hex32>,
    /// Of the root of a thread: what to read first, the digest that covers it or its canonical answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_first: Option<Hex32>,
}

fn status<S: Serializer>(status: &Status, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str((*status).name())
}
