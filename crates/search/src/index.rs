//! The index: a directory of the node beside its store, from which it can always be made again.
//!
//! One index for all networks. Every term of it bears the name of its network, so that no query of one
//! network can meet a document of another; what terms are worth is counted by network too
//! ([`NetworkStatistics`]). Texts are not stored: a hit is shown from the store.

use super::SearchError;
use super::document::Document;
use super::query::Kind;
use super::scoped::{NAME, SCOPE, Scoped};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::{
    IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};
use wats_event::Hex32;
use wats_store::Seq;

/// The version of the fields and of the tokenizer: an index of another version is made again.
const VERSION: u32 = 1;

/// Memory for documents that are not on the disk yet, in bytes.
const WRITER_BYTES: usize = 50_000_000;

/// The end of every file of a segment, in bytes: the length of its footer, and a mark.
const LEAST_BYTES: u64 = 8;

/// Files of the index as a whole; others belong to segments.
const OWN_FILES: [&str; 4] = ["meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock"];

/// The fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// What is looked up as it stands: network, kind, author, thread, tags.
    pub exact: Field,
    pub title: Field,
    pub text: Field,
    /// The id, in four numbers.
    pub id: [Field; 4],
    pub created_at: Field,
    pub kind: Field,
}

/// The names of the numbers of an id.
pub(super) const ID: [&str; 4] = ["id0", "id1", "id2", "id3"];
pub(super) const CREATED_AT: &str = "created_at";
pub(super) const KIND: &str = "kind";

fn schema() -> (Schema, Fields) {
    let words = TextFieldIndexing::default()
        .set_tokenizer(NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let words = TextOptions::default().set_indexing_options(words);
    let exact = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let mut schema = Schema::builder();
    let fields = Fields {
        exact: schema.add_text_field("exact", TextOptions::default().set_indexing_options(exact)),
        title: schema.add_text_field("title", words.clone()),
        text: schema.add_text_field("text", words),
        id: ID.map(|name| schema.add_u64_field(name, FAST)),
        created_at: schema.add_u64_field(CREATED_AT, FAST),
        kind: schema.add_u64_field(KIND, FAST),
    };
    (schema.build(), fields)
}

/// What an exact term says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exact<'t> {
    Network,
    Kind(Kind),
    /// A key, or the first digits of one.
    Author(&'t str),
    Thread(Hex32),
    Tag(&'t str),
}

/// The text of an exact term.
pub(super) fn exact(network: &str, what: Exact<'_>) -> String {
    match what {
        Exact::Network => format!("{network}{SCOPE}n"),
        Exact::Kind(kind) => format!("{network}{SCOPE}k{}", kind.name()),
        Exact::Author(digits) => format!("{network}{SCOPE}a{digits}"),
        Exact::Thread(root) => format!("{network}{SCOPE}t{root}"),
        Exact::Tag(tag) => format!("{network}{SCOPE}g{tag}"),
    }
}

/// How far an index has followed its store: written with every commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The last record of the sequence that was looked at.
    pub through: Seq,
    /// The last event that was met, and where: it tells whether the store is still the same.
    pub last: Option<(Seq, Hex32)>,
}

impl Mark {
    /// The mark as a commit bears it: what changes a digit of it does not go unnoticed.
    pub(super) fn write(&self, store: Hex32) -> String {
        let last = self.last.map_or_else(|| "-".to_owned(), |(seq, id)| format!("{}:{id}", seq.0));
        let said = format!("wats {VERSION} {store} {} {last}", self.through.0);
        let sum = blake3::hash(said.as_bytes());
        format!("{said} {}", &sum.to_hex()[..16])
    }

    fn read(payload: &str, store: Hex32) -> Option<Mark> {
        let words: Vec<&str> = payload.split(' ').collect();
        let [_, _, _, through, last, _] = words[..] else {
            return None;
        };
        let last = match last.split_once(':') {
            Some((seq, id)) => Some((Seq(seq.parse().ok()?), Hex32::parse(id)?)),
            None => None,
        };
        let mark = Mark { through: Seq(through.parse().ok()?), last };
        (mark.write(store) == payload).then_some(mark)
    }
}

/// An open index.
pub struct Index {
    directory: PathBuf,
    store: Hex32,
    live: RwLock<Live>,
    reached: AtomicU64,
    commits: AtomicU64,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// What a rebuilt index replaces.
struct Live {
    index: tantivy::Index,
    reader: IndexReader,
    mark: Mark,
}

impl Index {
    /// Opens the index in a directory, which is the index's alone, or makes one. One that is damaged, of
    /// another version or of another store is thrown away; what a crash left lying about is removed.
    ///
    /// Every file is read once and its checksum compared.
    ///
    /// # Errors
    /// When the directory cannot be made, emptied or written.
    pub fn open(directory: &Path, store: Hex32) -> Result<Index, SearchError> {
        wats_files::private_directory(directory).map_err(|cause| file(directory, cause))?;
        let live = match Live::existing(directory, store) {
            Ok(live) => live,
            Err(why) => {
                if let Some(why) = why {
                    tracing::warn!(directory = %directory.display(), why, "the index is made again from the store");
                }
                Live::fresh(directory)?
            }
        };
        let reached = AtomicU64::new(live.mark.through.0);
        let (live, commits) = (RwLock::new(live), AtomicU64::new(0));
        Ok(Index { directory: directory.to_owned(), store, live, reached, commits })
    }

    /// How far it has followed its store, as of the last commit.
    pub fn mark(&self) -> Mark {
        self.live.read().unwrap_or_else(PoisonError::into_inner).mark
    }

    /// The last record of the sequence through which every event can be found. It may be further than the
    /// mark of the last commit: where nothing is to be found in what was read since, nothing is committed.
    pub fn reached(&self) -> Seq {
        Seq(self.reached.load(Ordering::Acquire))
    }

    /// Everything through this record can be found.
    pub(super) fn reach(&self, through: Seq) {
        self.reached.store(through.0, Ordering::Release);
    }

    /// How often something was made findable since it was opened.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// How many events are in it, those of all networks.
    pub fn events(&self) -> u64 {
        self.searcher().num_docs()
    }

    /// Throws everything away; the one who writes must have let go of its writer.
    pub(super) fn clear(&self) -> Result<(), SearchError> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        *live = Live::fresh(&self.directory)?;
        self.reach(Seq(0));
        Ok(())
    }

    /// What is committed now.
    pub(super) fn searcher(&self) -> Searcher {
        self.live.read().unwrap_or_else(PoisonError::into_inner).reader.searcher()
    }

    pub(super) fn writer(&self) -> Result<IndexWriter, SearchError> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            .num_merge_threads(1)
            .build();
        Ok(live.index.writer_with_options(options)?)
    }

    /// Makes what was added findable, and durable together with how far it goes.
    pub(super) fn commit(&self, writer: &mut IndexWriter, mark: Mark) -> Result<(), SearchError> {
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&mark.write(self.store));
        prepared.commit()?;
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.reader.reload()?;
        live.mark = mark;
        self.reach(mark.through);
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Live {
    /// Opens what is there; why not, or nothing where there is nothing.
    fn existing(directory: &Path, store: Hex32) -> Result<Live, Option<String>> {
        let said = |e: TantivyError| Some(e.to_string());
        if !directory.join(OWN_FILES[0]).exists() {
            return Err(None);
        }
        let mapped = MmapDirectory::open(directory).map_err(|e| Some(e.to_string()))?;
        let index = tantivy::Index::open(mapped).map_err(said)?;
        if index.schema() != schema().0 {
            return Err(Some("it is of another version".into()));
        }
        let metas = index.load_metas().map_err(said)?;
        let mark = match &metas.payload {
            Some(payload) => Mark::read(payload, store)
                .ok_or_else(|| Some("it is of another store or version, or damaged".into()))?,
            None if metas.segments.is_empty() => Mark::default(),
            None => return Err(Some("it does not say how far it goes".into())),
        };
        // Listed are also files in the making, and those of deleted documents: there are none.
        let files = metas.list_segment_files();
        let made = |name: &PathBuf| name.extension().is_none_or(|kind| kind != "temp" && kind != "del");
        let files = files.into_iter().filter(made);
        let files: HashSet<PathBuf> = files.collect();
        sweep(directory, &files).map_err(|e| Some(e.to_string()))?;
        for name in &files {
            // The library panics on a file that was cut so short.
            let length =
                fs::metadata(directory.join(name)).map_err(|e| Some(format!("{}: {e}", name.display())))?;
            if length.len() < LEAST_BYTES {
                return Err(Some(format!("{} is cut off", name.display())));
            }
            match index.directory().validate_checksum(name) {
                Ok(true) => {}
                Ok(false) => return Err(Some(format!("{} is damaged", name.display()))),
                Err(e) => return Err(Some(e.to_string())),
            }
        }
        Live::over(index, mark).map_err(said)
    }

    /// An empty index, in place of whatever is there.
    fn fresh(directory: &Path) -> Result<Live, SearchError> {
        empty(directory).map_err(|cause| file(directory, cause))?;
        let settings = IndexSettings {
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        let mapped = MmapDirectory::open(directory).map_err(TantivyError::from)?;
        let index = tantivy::Index::create(mapped, schema().0, settings)?;
        Ok(Live::over(index, Mark::default())?)
    }

    fn over(index: tantivy::Index, mark: Mark) -> Result<Live, TantivyError> {
        index.tokenizers().register(NAME, Scoped::default());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Live { index, reader, mark })
    }
}

fn file(path: &Path, cause: std::io::Error) -> SearchError {
    SearchError::File { file: path.to_owned(), cause }
}

/// Removes what belongs to no segment: a process that was killed left it.
fn sweep(directory: &Path, segments: &HashSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        let own = OWN_FILES.iter().any(|own| name == Path::new(own));
        if !own && !segments.contains(&name) && entry.file_type()?.is_file() {
            tracing::debug!(file = %name.display(), "belongs to no segment of the index: removed");
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes all files of a directory.
fn empty(directory: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The fields of every index of this version.
pub(super) fn fields() -> Fields {
    static FIELDS: std::sync::OnceLock<Fields> = std::sync::OnceLock::new();
    *FIELDS.get_or_init(|| schema().1)
}

/// An event as the index takes it.
pub(super) fn indexed(id: Hex32, event: &Document) -> TantivyDocument {
    let fields = fields();
    let network = event.network.as_str();
    let mut document = TantivyDocument::new();
    let mut put = |what: Exact<'_>| document.add_text(fields.exact, exact(network, what));
    put(Exact::Network);
    put(Exact::Kind(event.kind));
    if event.kind == Kind::Answer {
        put(Exact::Kind(Kind::Post));
    } else if event.answers {
        put(Exact::Kind(Kind::Answer));
    }
    put(Exact::Author(&event.author.to_string()));
    put(Exact::Thread(event.thread));
    for tag in &event.tags {
        put(Exact::Tag(&tag.to_lowercase()));
    }
    if !event.title.is_empty() {
        document.add_text(fields.title, format!("{network}{SCOPE}{}", event.title));
    }
    // Tags are words too, after the text: a phrase does not reach from one into the other by chance.
    let tags = event.tags.join(" ");
    document.add_text(fields.text, format!("{network}{SCOPE}{}\n{tags}", event.text));
    for (field, part) in fields.id.iter().zip(id.0.chunks_exact(8)) {
        let part = part.try_into().map_or(0, u64::from_be_bytes);
        document.add_u64(*field, part);
    }
    document.add_u64(fields.created_at, event.created_at.0);
    document.add_u64(fields.kind, event.kind as u64);
    document
}

/// A kind from its number.
pub(super) fn kind_of(number: u64) -> Kind {
    match number {
        0 => Kind::Ask,
        2 => Kind::Answer,
        3 => Kind::Digest,
        _ => Kind::Post,
    }
}

/// What words are worth in one network: how rare they are there, whatever other networks hold.
pub(super) struct NetworkStatistics<'s> {
    searcher: &'s Searcher,
    events: u64,
}

/// How many tokens a title and a text have on average. They are fixed, so that neither another network
/// nor what is merged when moves a score.
const TITLE_TOKENS: u64 = 10;
const TEXT_TOKENS: u64 = 100;

impl<'s> NetworkStatistics<'s> {
    /// Those of a network; none where it has no event.
    pub(crate) fn of(
        searcher: &'s Searcher,
        network: &str,
    ) -> Result<Option<NetworkStatistics<'s>>, TantivyError> {
        let all = Term::from_field_text(fields().exact, &exact(network, Exact::Network));
        let events = searcher.doc_freq(&all)?;
        Ok((events > 0).then_some(NetworkStatistics { searcher, events }))
    }
}

impl Bm25StatisticsProvider for NetworkStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let each = if field == fields().title { TITLE_TOKENS } else { TEXT_TOKENS };
        Ok(self.events.saturating_mul(each))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.events)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.searcher.doc_freq(term)?.min(self.events))
    }
}
