//! What a replay amounts to, for a person: counts by status, knowledge, what is contested and why,
//! and who is trusted.

use crate::cli::LINES;
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};
use std::collections::BTreeMap;
use std::io::{self, Write};
use wats_engine::explain::amount;
use wats_engine::labels::{LabelAdvice, helped_by};
use wats_engine::replay::{Replay, Tally};
use wats_engine::summary::{quoted, why};
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, NetworkId};
use wats_model::views::{AuthorView, EntryView, PostView, Status};

/// Rows of a table; the rest is counted.
const ROWS: usize = 20;

/// Trusted authors that are shown.
const AUTHORS: usize = 10;

/// Columns where nobody tells the width of the terminal.
const WIDTH: u16 = 100;

const HEAD: Style = Style::new().bold();
const WARN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

/// Writes the tables.
pub(super) fn write(replay: &Replay, out: &mut impl Write) -> io::Result<()> {
    let person = Person { replay, width: width() };
    person.records(out)?;
    person.statuses(out)?;
    person.labels(out)?;
    person.entries(out)?;
    person.contested(out)?;
    person.authors(out)?;
    person.refused(out)
}

/// The width of the terminal, when standard output is one.
fn width() -> u16 {
    terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(width, _)| width.0).max(40)
}

struct Person<'a> {
    replay: &'a Replay,
    width: u16,
}

impl Person<'_> {
    /// A table of which only the columns at `wrap` are broken where they are wider than the terminal.
    fn table(&self, header: &[&str], wrap: &[usize]) -> Table {
        let mut table = Table::new();
        table.load_style(LINES);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(self.width).set_header(header);
        for column in (0..header.len()).filter(|column| !wrap.contains(column)) {
            if let Some(column) = table.column_mut(column) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table
    }

    fn records(&self, out: &mut impl Write) -> io::Result<()> {
        let tally = &self.replay.tally;
        if *tally == Tally::default() && self.replay.refused.is_empty() {
            return writeln!(out, "No records");
        }
        write!(out, "{} events", tally.events)?;
        let others = [
            (tally.copies, "copies of them"),
            (tally.blobs, "records of blobs"),
            (tally.later, "later ones ignored"),
            (self.replay.refused.count(), "refused"),
        ];
        for (n, name) in others.iter().filter(|(n, _)| *n > 0) {
            write!(out, ", {n} {name}")?;
        }
        writeln!(out, "; as of {}", date(self.replay.now().0))
    }

    fn statuses(&self, out: &mut impl Write) -> io::Result<()> {
        let mut networks: BTreeMap<NetworkId, [u64; 6]> = BTreeMap::new();
        let intake = &self.replay.intake;
        for (network, _) in intake.networks() {
            networks.entry(network).or_default();
        }
        let mut count = |network: Option<NetworkId>, column: usize| {
            if let Some(network) = network {
                networks.entry(network).or_default()[column] += 1;
            }
        };
        for post in self.replay.document.posts.values() {
            count(intake.event_network(post.post), column(post.status));
        }
        for entry in &self.replay.document.entries {
            count(intake.event_network(entry.entry), 4);
        }
        for author in self.replay.document.authors.values() {
            count(intake.key_network(author.key), 5);
        }
        let header = ["network", "confirmed", "contested", "stale", "unverified", "entries", "authors"];
        let mut table = self.table(&header, &[0]);
        for (network, counts) in &networks {
            let name = intake.network_name(*network).unwrap_or_default().to_owned();
            table.add_row([name].into_iter().chain(counts.iter().map(u64::to_string)));
        }
        align(&mut table, 1..7);
        section(out, "Posts by status", &table, 0)
    }

    fn labels(&self, out: &mut impl Write) -> io::Result<()> {
        let Replay { intake, document, .. } = self.replay;
        let mut table = self.table(&["network", "label", "what to do"], &[0, 2]);
        for view in document.networks.values() {
            let name = intake.network_name(view.network).unwrap_or_default().to_owned();
            let told = LabelAdvice::in_view(view, intake);
            let most = told.key.map(helped_by).unwrap_or_default();
            table.add_row([name, told.label.to_owned(), format!("{}{most}", told.advice)]);
        }
        match table.row_count() {
            0 => Ok(()),
            _ => section(out, "Labels of networks", &table, 0),
        }
    }

    fn entries(&self, out: &mut impl Write) -> io::Result<()> {
        let document = &self.replay.document;
        let score = |entry: &EntryView| document.posts.get(&entry.entry).map_or(Fixed::ZERO, |p| p.score);
        let mut entries: Vec<&EntryView> = document.entries.iter().collect();
        entries.sort_by_key(|e| (std::cmp::Reverse(score(e)), self.replay.intake.event_name(e.entry)));
        let mut table = self.table(&["entry", "kind", "about", "score"], &[2]);
        for entry in entries.iter().take(ROWS) {
            let about = if entry.digest { Some(entry.entry) } else { entry.threads.first().copied() };
            let kind = if entry.digest { "digest" } else { "answer" };
            let about = about.map(|id| self.about(id)).unwrap_or_default();
            table.add_row([self.short(entry.entry), kind.into(), about, decimal(score(entry))]);
        }
        align(&mut table, 3..4);
        section(out, "Knowledge", &table, entries.len())
    }

    fn contested(&self, out: &mut impl Write) -> io::Result<()> {
        let contested = |post: &&PostView| post.status == Status::Contested;
        let mut posts: Vec<&PostView> = self.replay.document.posts.values().filter(contested).collect();
        posts.sort_by_key(|p| {
            (std::cmp::Reverse(p.counts.contradictions), self.replay.intake.event_name(p.post))
        });
        let mut table = self.table(&["post", "about", "why"], &[1, 2]);
        for post in posts.iter().take(ROWS) {
            let why = why(post, &self.replay.intake).unwrap_or_else(|| post.status.name().into());
            table.add_row([self.short(post.post), self.about(post.post), why]);
        }
        section(out, "Contested", &table, posts.len())
    }

    fn authors(&self, out: &mut impl Write) -> io::Result<()> {
        let trusted = |author: &&AuthorView| author.trust > Fixed::ZERO;
        let mut authors: Vec<&AuthorView> = self.replay.document.authors.values().filter(trusted).collect();
        let all = authors.len();
        authors.sort_by_key(|a| {
            (std::cmp::Reverse((a.trust, a.reputation)), self.replay.intake.key_name(a.key))
        });
        let mut table = self.table(&["key", "network", "trust", "reputation", "voice", "origins"], &[1]);
        for author in authors.iter().take(AUTHORS) {
            let network = self.replay.intake.key_network(author.key);
            let network = network.and_then(|n| self.replay.intake.network_name(n)).unwrap_or_default();
            let name = self.replay.intake.key_name(author.key).unwrap_or_default();
            let numbers = [author.trust, author.reputation, author.voice].map(decimal);
            let [trust, reputation, voice] = numbers;
            let origins = author.origins.len().to_string();
            table.add_row([format!("{name:.12}"), network.to_owned(), trust, reputation, voice, origins]);
        }
        align(&mut table, 2..6);
        section(out, "Most trusted", &table, all)
    }

    fn refused(&self, out: &mut impl Write) -> io::Result<()> {
        let mut codes: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for (code, (count, first)) in &self.replay.refused.by_code {
            codes.insert(code.as_str(), (*count, first.refusal.reason.as_ref()));
        }
        if codes.is_empty() {
            return Ok(());
        }
        let mut table = self.table(&["code", "records", "the first one"], &[2]);
        for (code, (count, reason)) in codes {
            table.add_row([code.to_owned(), count.to_string(), reason.to_owned()]);
        }
        align(&mut table, 1..2);
        writeln!(out, "\n{WARN}Refused{WARN:#} (`wats verify` names each line)\n{}", table.trim_fmt())
    }

    fn short(&self, event: EventId) -> String {
        self.replay.intake.event_name(event).map(|name| format!("{name:.12}")).unwrap_or_default()
    }

    /// The first words of a post, quoted.
    fn about(&self, event: EventId) -> String {
        let held = self.replay.intake.held(event);
        let words = held.and_then(|held| held.title.as_deref().or(held.quote.as_deref()));
        words.map(quoted).unwrap_or_default()
    }
}

fn column(status: Status) -> usize {
    match status {
        Status::Confirmed => 0,
        Status::Contested => 1,
        Status::Stale => 2,
        Status::Unverified => 3,
    }
}

/// Numbers stand to the right.
fn align(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A heading, and a table if it has rows; `all` tells how many there would be.
fn section(out: &mut impl Write, title: &str, table: &Table, all: usize) -> io::Result<()> {
    let shown = table.row_count();
    if shown == 0 {
        return writeln!(out, "\n{HEAD}{title}{HEAD:#}: none");
    }
    writeln!(out, "\n{HEAD}{title}{HEAD:#}\n{}", table.trim_fmt())?;
    match all.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more"),
    }
}

/// Three digits after the point.
fn decimal(x: Fixed) -> String {
    let exact = amount(x);
    match exact.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{:0<3}", &fraction[..fraction.len().min(3)]),
        None => format!("{exact}.000"),
    }
}

/// A time as a person writes it.
fn date(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("{ms} ms"), |time| time.to_string())
}
