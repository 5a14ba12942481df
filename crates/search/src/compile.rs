//! From a query that was read to one that the index runs.
//!
//! Words alone become a union of terms, which the index answers without looking at every document that
//! has one of them. What only filters does not score.

use super::index::{Exact, NetworkStatistics, exact, fields};
use super::query::{Clause, Need, Query, Term};
use super::tokenizer::{Chunk, Form, Scanner};
use super::{Filter, SearchError};
use std::collections::HashSet;
use std::ops::Bound;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery, Occur, PhraseQuery,
    Query as Run, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term as Indexed};

/// How much more a word is worth in a title.
const TITLE: f32 = 2.0;
/// Keys that the first digits of `author:` may stand for; more are not looked at.
const MAX_AUTHORS: usize = 64;

/// A part of a query that the index runs, and whether it must be there.
type Part = (Occur, Box<dyn Run>);

/// A query that the index runs.
pub(super) struct Compiled {
    pub run: Box<dyn Run>,
    /// Whether some results are more relevant than others.
    pub scored: bool,
    /// The tokens that were looked for.
    pub words: HashSet<String>,
}

/// Compiles a query of one network.
///
/// # Errors
/// When the index cannot be read.
pub(super) fn compile(
    network: &str,
    query: &Query,
    filter: &Filter,
    searcher: &Searcher,
) -> Result<Compiled, SearchError> {
    let mut compiler =
        Compiler { network, searcher, scanner: Scanner::default(), words: HashSet::new(), scored: false };
    let mut all: Vec<Part> = Vec::new();
    let mut may: Vec<Box<dyn Run>> = Vec::new();
    for clause in &query.clauses {
        match clause.need {
            Need::May => may.extend(compiler.any(clause)?),
            Need::Must => all.push((Occur::Must, compiler.needed(clause, true)?)),
            Need::Not => all.push((Occur::MustNot, compiler.needed(clause, false)?)),
        }
    }
    let words = |term: &Term| matches!(term, Term::Word(_) | Term::Phrase(_));
    let needed =
        query.clauses.iter().any(|clause| clause.need == Need::Must && clause.terms.iter().any(words));
    all.extend(compiler.filters(filter)?);
    let words_only = all.is_empty();
    let mut may: Vec<Part> = may.into_iter().map(|run| (Occur::Should, run)).collect();
    let run: Box<dyn Run> = match (words_only, needed, may.is_empty()) {
        (true, _, false) => Box::new(BooleanQuery::new(may)),
        // Words that need not be there say only what comes first.
        (_, true, _) => {
            all.append(&mut may);
            Box::new(BooleanQuery::new(all))
        }
        (_, false, false) => {
            all.push((Occur::Must, Box::new(BooleanQuery::new(may))));
            Box::new(BooleanQuery::new(all))
        }
        (_, false, true) => {
            all.push((Occur::Must, compiler.exact(Exact::Network)));
            Box::new(BooleanQuery::new(all))
        }
    };
    Ok(Compiled { run, scored: compiler.scored, words: compiler.words })
}

struct Compiler<'q> {
    network: &'q str,
    searcher: &'q Searcher,
    scanner: Scanner,
    words: HashSet<String>,
    scored: bool,
}

impl Compiler<'_> {
    /// A clause of which one term must be there, or none.
    fn needed(&mut self, clause: &Clause, wanted: bool) -> Result<Box<dyn Run>, SearchError> {
        let mut runs = Vec::new();
        for term in &clause.terms {
            runs.push(match term {
                Term::Word(text) | Term::Phrase(text) => self.in_order(text, wanted),
                Term::Tag(tag) => self.exact(Exact::Tag(tag)),
                Term::Kind(kind) => self.exact(Exact::Kind(*kind)),
                Term::Thread(root) => self.exact(Exact::Thread(*root)),
                Term::Author(digits) => self.authors(digits)?,
            });
        }
        Ok(one_of(runs))
    }

    /// What may be there of a clause: its words, each for itself.
    fn any(&mut self, clause: &Clause) -> Result<Vec<Box<dyn Run>>, SearchError> {
        let mut runs = Vec::new();
        for term in &clause.terms {
            let Term::Word(text) = term else {
                runs.push(self.needed(clause, true)?);
                continue;
            };
            let mut scanner = std::mem::take(&mut self.scanner);
            scanner.start(0);
            while let Some(chunk) = scanner.next(text) {
                self.note(chunk);
                for (field, boost) in worth() {
                    let found = self.chunk(chunk, field);
                    runs.extend(found.into_iter().map(|run| boosted(run, boost)));
                }
            }
            self.scanner = scanner;
        }
        Ok(runs)
    }

    /// What is looked for is highlighted, and scores.
    fn note(&mut self, chunk: &Chunk) {
        self.scored = true;
        self.words.extend(chunk.tokens().map(|(_, folded)| folded.to_owned()));
    }

    /// The words of a chunk in one field: of a script without spaces any pair counts, an identifier
    /// counts whole.
    fn chunk(&self, chunk: &Chunk, field: Field) -> Vec<Box<dyn Run>> {
        let of = |form: Form| chunk.tokens().filter(move |(token, _)| token.form == form);
        let pairs: Vec<Box<dyn Run>> = of(Form::Pair).map(|(_, pair)| self.word(field, pair)).collect();
        if !pairs.is_empty() {
            return pairs;
        }
        let whole = of(Form::Whole).chain(of(Form::Joined)).map(|(_, whole)| whole).next();
        let parts = self.phrase(field, &ordered(chunk));
        match whole {
            None => parts.into_iter().collect(),
            // A name like `c++` is more than its one part.
            Some(whole) if of(Form::Atom).count() < 2 => vec![self.word(field, whole)],
            Some(whole) => {
                let both = [Some(self.word(field, whole)), parts].into_iter().flatten().collect();
                vec![Box::new(DisjunctionMaxQuery::new(both))]
            }
        }
    }

    /// A text as it stands: its words one after the other, in one of the fields.
    fn in_order(&mut self, text: &str, wanted: bool) -> Box<dyn Run> {
        let mut scanner = std::mem::take(&mut self.scanner);
        scanner.start(0);
        let (mut terms, mut chunks, mut single) = (Vec::new(), 0, Vec::new());
        while let Some(chunk) = scanner.next(text) {
            if wanted {
                self.note(chunk);
            }
            chunks += 1;
            terms.extend(ordered(chunk));
            if chunks == 1 {
                single = worth().map(|(field, boost)| (boost, self.chunk(chunk, field))).into();
            }
        }
        self.scanner = scanner;
        let alone = chunks == 1 && single.iter().all(|(_, runs)| runs.len() == 1);
        let runs = match alone {
            true => single
                .into_iter()
                .flat_map(|(boost, runs)| runs.into_iter().map(move |run| boosted(run, boost)))
                .collect(),
            false => worth()
                .into_iter()
                .filter_map(|(field, boost)| Some(boosted(self.phrase(field, &terms)?, boost)))
                .collect(),
        };
        one_of(runs)
    }

    fn phrase(&self, field: Field, parts: &[(usize, String)]) -> Option<Box<dyn Run>> {
        match parts {
            [] => None,
            [(_, only)] => Some(self.word(field, only)),
            _ => {
                let terms = parts.iter().map(|(at, part)| (*at, self.term(field, part))).collect();
                Some(Box::new(PhraseQuery::new_with_offset(terms)))
            }
        }
    }

    fn term(&self, field: Field, token: &str) -> Indexed {
        Indexed::from_field_text(field, &format!("{}{}{token}", self.network, super::scoped::SCOPE))
    }

    fn word(&self, field: Field, token: &str) -> Box<dyn Run> {
        Box::new(TermQuery::new(self.term(field, token), IndexRecordOption::WithFreqs))
    }

    /// What filters, and does not score.
    fn exact(&self, what: Exact<'_>) -> Box<dyn Run> {
        let term = Indexed::from_field_text(fields().exact, &exact(self.network, what));
        unscored(Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
    }

    /// The keys that begin with these digits.
    fn authors(&self, digits: &str) -> Result<Box<dyn Run>, SearchError> {
        let field = fields().exact;
        let from = exact(self.network, Exact::Author(digits));
        let mut found = std::collections::BTreeSet::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(field)?;
            // After the digits `0` to `f` comes nothing that is greater than `g`.
            let mut keys = index.terms().range().ge(&from).lt(format!("{from}g")).into_stream()?;
            while found.len() < MAX_AUTHORS && keys.advance() {
                found.insert(keys.key().to_vec());
            }
        }
        let term = |key: Vec<u8>| -> Box<dyn Run> {
            let key = String::from_utf8_lossy(&key).into_owned();
            Box::new(TermQuery::new(Indexed::from_field_text(field, &key), IndexRecordOption::Basic))
        };
        Ok(unscored(one_of(found.into_iter().map(term).collect())))
    }

    fn filters(&mut self, filter: &Filter) -> Result<Vec<Part>, SearchError> {
        let mut runs = Vec::new();
        runs.extend(filter.tags.iter().map(|tag| self.exact(Exact::Tag(&tag.to_lowercase()))));
        runs.extend(filter.kind.map(|kind| self.exact(Exact::Kind(kind))));
        runs.extend(filter.thread.map(|root| self.exact(Exact::Thread(root))));
        if let Some(digits) = &filter.author {
            runs.push(self.authors(digits)?);
        }
        if filter.since.is_some() || filter.before.is_some() {
            let at = |at: wats_model::ids::Millis| Indexed::from_field_u64(fields().created_at, at.0);
            // A range needs one bound that names the field.
            let since = Bound::Included(at(filter.since.unwrap_or_default()));
            let before = filter.before.map_or(Bound::Unbounded, |before| Bound::Excluded(at(before)));
            runs.push(unscored(Box::new(RangeQuery::new(since, before))));
        }
        Ok(runs.into_iter().map(|run| (Occur::Must, run)).collect())
    }
}

/// The parts of a chunk with their positions: atoms, and of a script without spaces pairs.
fn ordered(chunk: &Chunk) -> Vec<(usize, String)> {
    let paired = chunk.tokens().any(|(token, _)| token.form == Form::Pair);
    let wanted = |form| match form {
        Form::Atom => true,
        Form::Pair => paired,
        Form::Single => !paired,
        Form::Joined | Form::Whole => false,
    };
    let parts = chunk.tokens().filter(|(token, _)| wanted(token.form));
    parts.map(|(token, folded)| (token.position as usize, folded.to_owned())).collect()
}

/// The fields that words are looked for in.
fn worth() -> [(Field, f32); 2] {
    [(fields().title, TITLE), (fields().text, 1.0)]
}

fn boosted(run: Box<dyn Run>, boost: f32) -> Box<dyn Run> {
    if boost == 1.0 { run } else { Box::new(BoostQuery::new(run, boost)) }
}

fn unscored(run: Box<dyn Run>) -> Box<dyn Run> {
    Box::new(ConstScoreQuery::new(run, 0.0))
}

fn one_of(mut runs: Vec<Box<dyn Run>>) -> Box<dyn Run> {
    match runs.len() {
        0 => Box::new(EmptyQuery),
        1 => runs.swap_remove(0),
        _ => Box::new(BooleanQuery::union(runs)),
    }
}

/// The statistics that a query of a network runs with.
pub(super) fn statistics<'s>(
    searcher: &'s Searcher,
    network: &str,
) -> Result<Option<NetworkStatistics<'s>>, SearchError> {
    Ok(NetworkStatistics::of(searcher, network)?)
}
