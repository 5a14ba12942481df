//! `GET /v1/browse`: a map of what there is to know, before anybody searches: each answer is a range of
//! the store, which the tick keeps.

use super::params::Params;
use super::shown;
use super::{App, Origin, Problem, about};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use jiff::civil::{Date, date};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use wats_engine::collation;
use wats_engine::view_set::counts;
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::Status;
use wats_store::{GroupRecord, ListedRecord, Order, Reader, Under};

/// Groups or entries of a page, where nobody says how many; and at most.
const ITEMS: usize = 20;
const MOST: usize = 100;
/// The first entries of each group, likewise.
const TOP: usize = 3;
const MOST_TOP: usize = 10;

/// What to browse.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowseQuery {
    network: String,
    by: Facet,
    /// What of it.
    under: Option<String>,
    limit: Option<usize>,
    top: Option<usize>,
    cursor: Option<String>,
}

/// By what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Facet {
    Tag,
    Title,
    Thread,
    Time,
}

/// What a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BrowseTarget {
    /// Groups in an order: all, or those of a month or with the beginning of a title.
    Groups { order: Order, of: Option<Under>, beginning: Vec<u8> },
    /// The entries under something.
    Entries(Under),
}

impl BrowseQuery {
    fn wanted(&self) -> Result<BrowseTarget, Problem> {
        let groups = |order| BrowseTarget::Groups { order, of: None, beginning: Vec::new() };
        Ok(match (self.by, self.under.as_deref()) {
            (Facet::Tag, None) => groups(Order::Tags),
            (Facet::Tag, Some(tag)) if tag.len() <= 64 => BrowseTarget::Entries(Under::Tag(tag.to_owned())),
            (Facet::Tag, Some(_)) => return Err(Problem::bad_request("a tag has 64 bytes at most")),
            (Facet::Thread, None) => groups(Order::Threads),
            (Facet::Thread, Some(id)) => {
                BrowseTarget::Entries(Under::Thread(super::problem::name("a thread", id)?))
            }
            (Facet::Title, None) => groups(Order::Initials),
            (Facet::Title, Some(beginning)) => {
                let beginning = collation::folded(beginning).into_bytes();
                BrowseTarget::Groups { order: Order::Titles, of: None, beginning }
            }
            (Facet::Time, None) => groups(Order::Months),
            (Facet::Time, Some(time)) => match read_time(time) {
                Some(Under::Day(day)) => BrowseTarget::Entries(Under::Day(day)),
                Some(month) => {
                    BrowseTarget::Groups { order: Order::Days, of: Some(month), beginning: Vec::new() }
                }
                None => {
                    return Err(Problem::bad_request("a time is a month, `2026-11`, or a day, `2026-11-30`"));
                }
            },
        })
    }
}

/// `GET /v1/browse`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Params(asked): Params<BrowseQuery>,
) -> Result<Response, Problem> {
    about(app, asked.network.clone(), origin, move |app, reader| page(app, &asked, reader)).await
}

fn page(app: &App, asked: &BrowseQuery, reader: &Reader<'_>) -> Result<Value, Problem> {
    let wanted = asked.wanted()?;
    let look =
        NetworkReader { app, reader, network: &asked.network, top: asked.top.unwrap_or(TOP).min(MOST_TOP) };
    let limit = asked.limit.unwrap_or(ITEMS).clamp(1, MOST);
    match wanted {
        BrowseTarget::Groups { order, of, beginning } => {
            let after = asked.cursor.as_deref().map(|cursor| read_place(cursor, order)).transpose()?;
            let mut answer = look.groups(order, of.as_ref(), &beginning, after.as_deref(), limit)?;
            if let Some(of) = of {
                answer["group"] = look.one(&of)?;
            }
            Ok(answer)
        }
        BrowseTarget::Entries(under) => {
            let mut answer = look.entries(&under, asked.cursor.as_deref(), limit)?;
            if !matches!(under, Under::Thread(_)) {
                answer["group"] = look.one(&under)?;
            }
            Ok(answer)
        }
    }
}

/// The place after which a page of groups begins, as the page before said.
fn read_place(cursor: &str, order: Order) -> Result<Vec<u8>, Problem> {
    let bytes = cursor.strip_prefix(MARK).and_then(read_hex);
    match bytes.as_deref().and_then(<[u8]>::split_first) {
        Some((&of, place)) if of == order as u8 => Ok(place.to_vec()),
        _ => Err(no_cursor()),
    }
}

fn no_cursor() -> Problem {
    Problem::bad_request(
        "`cursor` is none of a page before this one: pass it on as it is, with the same query",
    )
    .with("code", "no_cursor")
}

const MARK: &str = "wb01";
/// Bytes of a sealed place: a nonce, the entry and what it is; then its place; then a mark of both.
const HEAD: usize = 41;
const PLACE: usize = 12;

/// See [`NetworkReader::seal`].
struct Seal {
    secret: [u8; 32],
    stream: [u8; PLACE],
}

impl Seal {
    fn mark(&self, head: &[u8; HEAD], place: &[u8; PLACE]) -> [u8; 8] {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        let hash = *hasher.update(b"mark").update(head).update(place).finalize().as_bytes();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

/// Bytes as hex digits.
fn read_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn write_place(place: &[u8], order: Order) -> String {
    let digits: String = [order as u8].iter().chain(place).map(|byte| format!("{byte:02x}")).collect();
    format!("{MARK}{digits}")
}

/// One state of the store, looked at for one network.
struct NetworkReader<'a> {
    app: &'a App,
    reader: &'a Reader<'a>,
    network: &'a str,
    /// Entries of each group.
    top: usize,
}

impl NetworkReader<'_> {
    fn groups(
        &self,
        order: Order,
        of: Option<&Under>,
        beginning: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Value, Problem> {
        let (from, last) = days(of);
        let from = if beginning.is_empty() { &from } else { beginning };
        let within = |place: &[u8]| match &last {
            Some(last) => place <= &last[..],
            None => place.starts_with(beginning),
        };
        let found = self.reader.groups(self.network, order, from, within, after, limit + 1)?;
        let mut groups = Vec::new();
        for (_, group) in found.iter().take(limit) {
            groups.push(self.group(group)?);
        }
        let mut answer = json!({ "groups": groups });
        if found.len() > limit {
            answer["cursor"] = write_place(&found[limit - 1].0, order).into();
        }
        Ok(answer)
    }

    /// The counts of one thing; null where nothing is under it.
    fn one(&self, under: &Under) -> Result<Value, Problem> {
        let group = self.reader.group(self.network, under)?;
        group.map_or(Ok(Value::Null), |group| self.group(&group))
    }

    fn group(&self, group: &GroupRecord) -> Result<Value, Problem> {
        let mut json = match &group.under {
            Under::Tag(tag) => json!({ "name": tag }),
            Under::Initial(c) => {
                json!({ "name": char::from_u32(*c).filter(|c| *c != '\0').map(String::from).unwrap_or_default() })
            }
            Under::Month(month) => json!({ "name": month_name(*month) }),
            Under::Day(day) => json!({ "name": day_name(*day) }),
            Under::Thread(root) => {
                let held = shown::held(&self.app.core.store, *root)?;
                json!({ "thread": root, "title": held.and_then(|held| held.said.title) })
            }
        };
        let posts = Status::ALL.map(|status| (status.name().to_owned(), group.posts[status as usize].into()));
        json["posts"] = Value::Object(posts.into_iter().collect());
        json["entries"] = group.entries.into();
        if self.top > 0 && group.entries > 0 {
            let top = self.reader.listed(self.network, &group.under, None, self.top)?;
            json["top"] = self.briefly(&top)?;
        }
        Ok(json)
    }

    fn entries(&self, under: &Under, cursor: Option<&str>, limit: usize) -> Result<Value, Problem> {
        let after = cursor.map(|cursor| self.read_entry(cursor)).transpose()?;
        let found = self.reader.listed(self.network, under, after, limit + 1)?;
        let shown = &found[..found.len().min(limit)];
        let mut answer = json!({ "entries": self.briefly(shown)? });
        if let Some(last) = shown.last().filter(|_| found.len() > limit) {
            answer["cursor"] = self.write_entry(last)?.into();
        }
        Ok(answer)
    }

    /// The place of an entry, sealed: it is made of the score, which is for nobody to see. It stays where
    /// it is while scores move, so that what comes after it is neither shown twice nor passed over.
    fn write_entry(&self, entry: &ListedRecord) -> Result<String, Problem> {
        let held = shown::held(&self.app.core.store, entry.entry)?.ok_or_else(no_cursor)?;
        let post = self.reader.post(self.network, entry.entry)?.ok_or_else(no_cursor)?;
        let day = u32::try_from(held.said.created_at.0 / Millis::DAY.0).unwrap_or(u32::MAX);
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|e| Problem::new(500, "internal error", e.to_string()))?;
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&nonce);
        head[8..40].copy_from_slice(&entry.entry.0);
        head[40] = u8::from(entry.digest);
        let mut place = [0; PLACE];
        place[..8].copy_from_slice(&post.score.0.to_le_bytes());
        place[8..].copy_from_slice(&day.to_le_bytes());
        let seal = self.seal(&head);
        place.iter_mut().zip(seal.stream).for_each(|(byte, key)| *byte ^= key);
        let mark = seal.mark(&head, &place);
        let all = [&head[..], &place, &mark].concat();
        Ok(all.iter().fold(MARK.to_owned(), |text, byte| text + &format!("{byte:02x}")))
    }

    /// Where the last entry of the page before stood.
    fn read_entry(&self, cursor: &str) -> Result<(Fixed, u32, ListedRecord), Problem> {
        let bytes = cursor.strip_prefix(MARK).and_then(read_hex).ok_or_else(no_cursor)?;
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(no_cursor)?;
        let (place, mark) = rest.split_first_chunk::<PLACE>().ok_or_else(no_cursor)?;
        let seal = self.seal(head);
        if seal.mark(head, place)[..] != *mark {
            return Err(no_cursor());
        }
        let mut open = *place;
        open.iter_mut().zip(seal.stream).for_each(|(byte, key)| *byte ^= key);
        let score = open.first_chunk().copied().map(i64::from_le_bytes).unwrap_or_default();
        let day = open.last_chunk().copied().map(u32::from_le_bytes).unwrap_or_default();
        let id = head[8..40].first_chunk().copied().unwrap_or_default();
        Ok((Fixed(score), day, ListedRecord { entry: Hex32(id), digest: head[40] == 1 }))
    }

    /// What seals a place: only who knows the id of this store can make it, and only for this very entry.
    fn seal(&self, head: &[u8; HEAD]) -> Seal {
        let secret = blake3::derive_key("wats 2026 cursor of browse", &self.app.core.store.id().0);
        let mut stream = [0; PLACE];
        blake3::Hasher::new_keyed(&secret).update(head).finalize_xof().fill(&mut stream);
        Seal { secret, stream }
    }

    fn briefly(&self, entries: &[ListedRecord]) -> Result<Value, Problem> {
        let mut all = Vec::new();
        for entry in entries {
            all.extend(self.brief(entry)?);
        }
        Ok(all.into())
    }

    /// An entry without its text.
    fn brief(&self, entry: &ListedRecord) -> Result<Option<Value>, Problem> {
        let store = &self.app.core.store;
        let (Some(held), Some(post)) =
            (shown::held(store, entry.entry)?, self.reader.post(self.network, entry.entry)?)
        else {
            return Ok(None);
        };
        let said = held.said;
        let root = said.root();
        let title = match (said.title, root == said.id) {
            // An answer has no title of its own: it is that of its ask.
            (None, false) => shown::held(store, root)?.and_then(|root| root.said.title),
            (title, _) => title,
        };
        Ok(Some(json!({
            "id": said.id,
            "kind": said.kind,
            "knowledge": if entry.digest { "digest" } else { "answer" },
            "title": title,
            "author": said.author,
            "created_at": said.created_at,
            "thread": root,
            "status": post.status.name(),
            "counts": counts(&post.counts),
        })))
    }
}

/// The places of the first and the last day of a month, the latest first.
fn days(of: Option<&Under>) -> (Vec<u8>, Option<Vec<u8>>) {
    let Some(Under::Month(month)) = of else {
        return (Vec::new(), None);
    };
    let place = |day: u32| (!day).to_be_bytes().to_vec();
    match first_of(*month) {
        Some(first) => {
            let last = epoch_day(first.last_of_month()).unwrap_or(u32::MAX);
            (place(last), epoch_day(first).map(place))
        }
        // A month that no calendar has: nothing is in it.
        None => (vec![0xff; 5], Some(Vec::new())),
    }
}

const EPOCH: Date = date(1970, 1, 1);

fn epoch_day(day: Date) -> Option<u32> {
    u32::try_from(EPOCH.until(day).ok()?.get_days()).ok()
}

fn first_of(month: u32) -> Option<Date> {
    let (year, month) = (1970 + month / 12, month % 12 + 1);
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()
}

fn month_name(month: u32) -> String {
    format!("{:04}-{:02}", 1970 + month / 12, month % 12 + 1)
}

fn day_name(day: u32) -> String {
    let date = EPOCH.checked_add(jiff::Span::new().days(i64::from(day).min(2_932_896)));
    date.map_or_else(|_| day.to_string(), |date| date.to_string())
}

/// A month or a day, as they are written.
fn read_time(text: &str) -> Option<Under> {
    let whole = if text.len() == 7 { format!("{text}-01") } else { text.to_owned() };
    let day: Date = whole.parse().ok().filter(|_| whole.len() == 10)?;
    match text.len() {
        7 => Some(Under::Month(
            (u32::from(day.year().unsigned_abs()).checked_sub(1970)?) * 12
                + u32::from(day.month().unsigned_abs())
                - 1,
        )),
        _ => epoch_day(day).map(Under::Day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wats_dataflows::facets::month;

    #[test]
    fn times_are_read_as_they_are_written() {
        for day in [0, 30, 31, 58, 59, 11_016, 20_422, 20_787, 20_788, 40_000] {
            let name = day_name(day);
            assert_eq!(read_time(&name), Some(Under::Day(day)), "{name}");
            assert_eq!(month_name(month(day)), name[..7]);
            assert_eq!(read_time(&name[..7]), Some(Under::Month(month(day))));
            let (first, last) = days(Some(&Under::Month(month(day))));
            let place = (!day).to_be_bytes();
            assert!(first[..] <= place[..] && place[..] <= last.unwrap()[..], "{name}");
        }
        for wrong in
            ["", "2026", "2026-1", "2026-13", "2026-11-31", "1969-12", "1969-12-31", "2026-11-30T1", "é"]
        {
            assert_eq!(read_time(wrong), None, "{wrong}");
        }
        // What an author may claim is beyond every calendar.
        assert_eq!(day_name(u32::MAX), day_name(2_932_896));
        assert!(month_name(u32::MAX).ends_with(|c: char| c.is_ascii_digit()));
    }

    #[test]
    fn a_place_is_read_back_in_its_own_order_alone() {
        let cursor = write_place(&[1, 2, 255], Order::Tags);
        assert_eq!(read_place(&cursor, Order::Tags).unwrap(), [1, 2, 255]);
        assert!(read_place(&cursor, Order::Threads).is_err());
        for wrong in ["", "wb01", "wb016", "wb01zz", "wb01é", "xx0167"] {
            assert!(read_place(wrong, Order::Tags).is_err(), "{wrong}");
        }
    }
}
