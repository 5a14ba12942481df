//! Answering a search: candidates of the index, ranked by what the views say of them.

use super::compile::{Compiled, compile, statistics};
use super::document::Document;
use super::index::{CREATED_AT, ID, Index, KIND, kind_of};
use super::pages::{Candidate, Cursor, Found, MEMORY, Pages};
use super::query::{Kind, is_key_digits, parse};
use super::rank::{Ranked, at_least, by_relevance, in_band, within_band};
use super::snippet::snippet;
use super::{
    CANDIDATES, FILTERED_CANDIDATES, Filter, HITS, Hit, MAX_BAND, MAX_HITS, Page, Request, SearchError,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use tantivy::collector::TopDocs;
use tantivy::{DocAddress, Order, Searcher};
use wats_event::Hex32;
use wats_event::fields::MAX_TITLE_CHARS;
use wats_event::line::line;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::{Counts, Status};
use wats_store::{PostRecord, Reader, Shown, Store, StoreError};

/// Candidates that are taken from the index at first; the rest when they are used up.
const FIRST: usize = 250;
/// Candidates whose views are read at a time.
const STEP: usize = 64;
/// Sources of a hit, at most.
const MAX_SOURCES: usize = 64;

/// Answers searches, on any number of threads.
#[derive(Debug)]
pub struct Search {
    store: Arc<Store>,
    index: Arc<Index>,
    pages: Pages,
    hide_below: Fixed,
}

impl Search {
    /// Answers from a store and its index; authors whose reputation is below `hide_below` are left out
    /// unless they are asked for.
    pub fn new(store: Arc<Store>, index: Arc<Index>, hide_below: Fixed) -> Search {
        let pages = Pages::new(store.id(), MEMORY);
        Search { store, index, pages, hide_below }
    }

    /// The index that it answers from.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Answers a search, or a page more of it.
    ///
    /// # Errors
    /// When the query, a filter or the cursor is wrong ([`SearchError::is_of_client`]), or the store or the
    /// index cannot be read.
    pub fn search(&self, request: &Request) -> Result<Page, SearchError> {
        let query = parse(&request.query)?;
        check(&request.filter)?;
        if query.clauses.is_empty() && request.filter == Filter::default() {
            return Err(SearchError::Nothing);
        }
        let searcher = self.index.searcher();
        let compiled = compile(&request.network, &query, &request.filter, &searcher)?;
        let asked = fingerprint(request);
        let inquiry = Inquiry { searcher: &searcher, network: &request.network, compiled: &compiled };
        let (cursor, found) = match &request.cursor {
            Some(cursor) => {
                let cursor = Cursor::read(cursor)?;
                (Some(cursor), self.pages.get(cursor)?)
            }
            None => {
                let (rest, complete) = inquiry.candidates(FIRST)?;
                let seen = rest.iter().map(|of| of.id).collect();
                let found =
                    Found { asked, ranked: Vec::new(), rest: rest.into(), seen, complete, all: complete };
                (None, Arc::new(std::sync::Mutex::new(found)))
            }
        };
        let reader = self.store.read();
        let shelf = Shelf { search: self, request, inquiry, reader: &reader };
        let from = cursor.map_or(0, |cursor| cursor.from as usize);
        let limit = if request.limit == 0 { HITS } else { request.limit.min(MAX_HITS) };
        let (ids, more, complete) = {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            if found.asked != asked {
                return Err(SearchError::OtherSearch);
            }
            // One more than is shown tells whether there is another page.
            while found.ranked.len() <= from + limit && shelf.has_more(&mut found, 0)? {
                shelf.rank_band(&mut found)?;
            }
            let ids: Vec<Hex32> = found.ranked.iter().skip(from).take(limit).copied().collect();
            (ids, found.ranked.len() > from + limit, found.complete)
        };
        let hits: Result<Vec<Option<Hit>>, SearchError> = ids.iter().map(|id| shelf.hit(*id)).collect();
        let next = match (more, cursor) {
            (false, _) => None,
            (true, Some(cursor)) => Some(cursor),
            (true, None) => {
                let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
                Some(self.pages.keep(found)?.0)
            }
        };
        let next = next.map(|cursor| cursor.at(from + limit).write());
        Ok(Page { hits: hits?.into_iter().flatten().collect(), cursor: next, complete })
    }
}

impl Search {
    /// How relevant the best are, by the index alone and nothing else: what [`Search::search`] is
    /// measured against.
    ///
    /// # Errors
    /// As of [`Search::search`].
    pub fn plain(&self, request: &Request, most: usize) -> Result<Vec<f32>, SearchError> {
        let searcher = self.index.searcher();
        let compiled = compile(&request.network, &parse(&request.query)?, &request.filter, &searcher)?;
        let found = searcher.search(&compiled.run, &TopDocs::with_limit(most).order_by_score())?;
        Ok(found.into_iter().map(|(relevance, _)| relevance).collect())
    }
}

/// Checks what a client may get wrong.
fn check(filter: &Filter) -> Result<(), SearchError> {
    match &filter.author {
        Some(digits) if !is_key_digits(digits) => Err(SearchError::Filter {
            name: "author",
            what: "give a key, or its first 8 or more lower-case hex digits".into(),
        }),
        _ => Ok(()),
    }
}

fn statuses_filter(filter: &Filter) -> bool {
    !filter.statuses.is_empty() || filter.min_status.is_some()
}

/// What tells one search from another; pages of one may differ in their length.
fn fingerprint(request: &Request) -> [u8; 32] {
    let Request { network, query, filter, include_low, .. } = request;
    *blake3::hash(format!("{network}\0{query}\0{filter:?}\0{include_low}").as_bytes()).as_bytes()
}

/// What is asked of the index.
#[derive(Clone, Copy)]
struct Inquiry<'s> {
    searcher: &'s Searcher,
    network: &'s str,
    compiled: &'s Compiled,
}

impl Inquiry<'_> {
    /// The most relevant, or the newest where nothing is more relevant than another; whether they are all.
    fn candidates(&self, most: usize) -> Result<(Vec<Candidate>, bool), SearchError> {
        let Some(statistics) = statistics(self.searcher, self.network)? else {
            return Ok((Vec::new(), true));
        };
        let top = TopDocs::with_limit(most + 1);
        let run = self.compiled.run.as_ref();
        let mut found: Vec<(f32, DocAddress)> = match self.compiled.scored {
            true => self.searcher.search_with_statistics_provider(run, &top.order_by_score(), &statistics)?,
            false => {
                let newest = top.order_by_u64_field(CREATED_AT, Order::Desc);
                let found = self.searcher.search(run, &newest)?;
                found.into_iter().map(|(_, address)| (1.0, address)).collect()
            }
        };
        let complete = found.len() <= most;
        found.truncate(most);
        // What is of one segment is read together.
        found.sort_unstable_by_key(|(_, address)| *address);
        let mut candidates = Vec::with_capacity(found.len());
        for of_segment in found.chunk_by(|a, b| a.1.segment_ord == b.1.segment_ord) {
            self.read(of_segment, &mut candidates)?;
        }
        let key = |of: &Candidate| (of.relevance, of.created_at, of.id);
        candidates.sort_unstable_by(|a, b| by_relevance(key(a), key(b)));
        Ok((candidates, complete))
    }

    fn read(&self, found: &[(f32, DocAddress)], out: &mut Vec<Candidate>) -> Result<(), SearchError> {
        let Some((_, first)) = found.first() else {
            return Ok(());
        };
        let fast = self.searcher.segment_reader(first.segment_ord).fast_fields();
        let column = |name: &str| fast.column_first_or_default::<u64>(name);
        let id = [column(ID[0])?, column(ID[1])?, column(ID[2])?, column(ID[3])?];
        let (created_at, kind) = (column(CREATED_AT)?, column(KIND)?);
        out.extend(found.iter().map(|&(relevance, DocAddress { doc_id, .. })| {
            let mut bytes = [0; 32];
            for (part, column) in bytes.chunks_exact_mut(8).zip(&id) {
                part.copy_from_slice(&column.get_val(doc_id).to_be_bytes());
            }
            Candidate {
                id: Hex32(bytes),
                relevance,
                created_at: Millis(created_at.get_val(doc_id)),
                kind: kind_of(kind.get_val(doc_id)),
            }
        }));
        Ok(())
    }
}

/// One answer in the making, with the one state of the views that it is made from.
struct Shelf<'s> {
    search: &'s Search,
    request: &'s Request,
    inquiry: Inquiry<'s>,
    reader: &'s Reader<'s>,
}

impl Shelf<'_> {
    /// Whether there are more candidates than so many of what is left. When the first have been used up,
    /// the index is asked for all that may be ranked; those that were among the first are not taken again.
    fn has_more(&self, found: &mut Found, than: usize) -> Result<bool, SearchError> {
        if found.rest.len() <= than && !found.all {
            let most = match statuses_filter(&self.request.filter) {
                true => FILTERED_CANDIDATES,
                false => CANDIDATES,
            };
            let (more, complete) = self.inquiry.candidates(most)?;
            let others = more.into_iter().filter(|of| !found.seen.contains(&of.id));
            found.rest.extend(others.take(most.saturating_sub(found.seen.len())));
            (found.all, found.complete) = (true, complete);
            found.seen = HashSet::new();
        }
        Ok(found.rest.len() > than)
    }

    /// Ranks the next band of what is left; the first that is shown opens it.
    fn rank_band(&self, found: &mut Found) -> Result<(), SearchError> {
        let mut band: Vec<Ranked> = Vec::new();
        let mut authors: HashMap<Hex32, bool> = HashMap::new();
        let mut taken = 0;
        while taken < MAX_BAND && self.has_more(found, taken)? {
            let rest = found.rest.range(taken..);
            let first = band.first().map(|first| first.relevance);
            let Some(first) = first.or_else(|| rest.clone().next().map(|next| next.relevance)) else {
                break;
            };
            let step: Vec<&Candidate> =
                rest.take(STEP.min(MAX_BAND - taken)).take_while(|of| in_band(first, of.relevance)).collect();
            if step.is_empty() {
                break;
            }
            let ids: Vec<Hex32> = step.iter().map(|of| of.id).collect();
            let posts = self.reader.posts_of(&self.request.network, &ids)?;
            for (candidate, post) in step.iter().zip(posts) {
                band.extend(self.ranked(candidate, post, &mut authors)?);
            }
            taken += step.len();
        }
        found.rest.drain(..taken);
        band.sort_unstable_by(within_band);
        found.ranked.extend(band.iter().map(|of| of.id));
        Ok(())
    }

    /// What the views say of a candidate; none where it is not asked for.
    fn ranked(
        &self,
        candidate: &Candidate,
        post: Option<PostRecord>,
        authors: &mut HashMap<Hex32, bool>,
    ) -> Result<Option<Ranked>, SearchError> {
        let post = self.known(candidate.id, post)?;
        let filter = &self.request.filter;
        let named = filter.statuses.is_empty() || filter.statuses.contains(&post.status);
        let asked = named && filter.min_status.is_none_or(|min| at_least(post.status, min));
        if !(asked && self.shows(post.author, authors)?) {
            return Ok(None);
        }
        Ok(Some(Ranked {
            id: candidate.id,
            relevance: candidate.relevance,
            knowledge: self.entry(candidate.id, candidate.kind, post.status)?.is_some(),
            status: post.status,
            score: post.score,
            created_at: candidate.created_at,
        }))
    }

    /// The view of a post; of one that the views do not know yet, that nothing was said of it.
    fn known(&self, id: Hex32, post: Option<PostRecord>) -> Result<PostRecord, SearchError> {
        if let Some(post) = post {
            return Ok(post);
        }
        let author = self.document(id)?.map(|event| event.author).unwrap_or_default();
        Ok(PostRecord {
            author,
            status: Status::Unverified,
            score: Fixed::ZERO,
            counts: Counts::default(),
            replicas: 0,
            why: None,
        })
    }

    /// Whether an author is shown.
    fn shows(&self, author: Hex32, authors: &mut HashMap<Hex32, bool>) -> Result<bool, SearchError> {
        if self.request.include_low {
            return Ok(true);
        }
        if let Some(shown) = authors.get(&author) {
            return Ok(*shown);
        }
        let view = self.reader.author(&self.request.network, author)?;
        let reputation = view.map_or(Fixed::ZERO, |view| view.reputation);
        let shown = reputation >= self.search.hide_below;
        authors.insert(author, shown);
        Ok(shown)
    }

    /// The threads of the entry that a post is, where it is one: only what is confirmed can be.
    fn entry(&self, id: Hex32, kind: Kind, status: Status) -> Result<Option<Vec<Hex32>>, StoreError> {
        if status != Status::Confirmed {
            return Ok(None);
        }
        let network = &self.request.network;
        let digest = match kind {
            Kind::Digest => self.reader.entry(network, id, true)?,
            _ => None,
        };
        let entry = match digest {
            Some(entry) => Some(entry),
            None => self.reader.entry(network, id, false)?,
        };
        Ok(entry.map(|entry| entry.threads))
    }

    fn document(&self, id: Hex32) -> Result<Option<Document>, StoreError> {
        Ok(self.search.store.event(id)?.and_then(|place| Document::read(&place.text)))
    }

    /// What is shown of an event.
    fn hit(&self, id: Hex32) -> Result<Option<Hit>, SearchError> {
        let Some(event) = self.document(id)? else {
            return Ok(None);
        };
        let post = self.known(id, self.reader.post(&self.request.network, id)?)?;
        let threads = self.entry(id, event.kind, post.status)?;
        let knowledge = threads.is_some();
        let mut sources = if event.kind == Kind::Digest { event.refs.clone() } else { Vec::new() };
        for thread in threads.unwrap_or_default() {
            if !sources.contains(&thread) {
                sources.push(thread);
            }
        }
        sources.truncate(MAX_SOURCES);
        let contested = post.status == Status::Contested;
        Ok(Some(Hit {
            id,
            kind: event.kind,
            author: event.author,
            thread: event.thread,
            created_at: event.created_at,
            title: self.title(id, &event)?,
            snippet: snippet(&event.text, &self.inquiry.compiled.words),
            tags: event.tags.iter().filter_map(|tag| line(tag, MAX_TITLE_CHARS)).collect(),
            status: post.status,
            why: post.why.filter(|_| contested),
            counts: post.counts,
            knowledge,
            sources,
            read_first: self.read_first(id, &event)?,
        }))
    }

    /// The title of an event, or of its thread.
    fn title(&self, id: Hex32, event: &Document) -> Result<Option<String>, StoreError> {
        if let Some(title) = line(&event.title, MAX_TITLE_CHARS) {
            return Ok(Some(title));
        }
        if event.thread == id {
            return Ok(None);
        }
        // A root of another network is none of this thread.
        let root = self.document(event.thread)?.filter(|root| root.network == event.network);
        Ok(root.and_then(|root| line(&root.title, MAX_TITLE_CHARS)))
    }

    fn read_first(&self, id: Hex32, event: &Document) -> Result<Option<Hex32>, StoreError> {
        if event.thread != id {
            return Ok(None);
        }
        let shown = |what| self.reader.shown(&self.request.network, id, what);
        match shown(Shown::Digest)? {
            Some(digest) => Ok(Some(digest)),
            None => shown(Shown::Canonical),
        }
    }
}
