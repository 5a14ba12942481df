//! Explanations as text: indented lines, ids cut to their first digits.

use super::{Argument, Earned, Floor, Hop, KeyExplained, PostExplained, SignalsBy, Verdict};
use std::fmt::{self, Display, Formatter, Write};
use wats_event::Hex32;
use wats_model::fixed::{Fixed, ONE};

/// Keys and arguments of a kind that the text shows; JSON has them all.
const SHOWN: usize = 40;

/// A quantity as a decimal number, exactly.
pub fn amount(x: Fixed) -> String {
    let (sign, x) = (if x.0 < 0 { "-" } else { "" }, x.0.unsigned_abs());
    let one = ONE.0.unsigned_abs();
    let text = format!("{sign}{}.{:09}", x / one, x % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The first digits of a name: enough for `--explain`.
fn short(name: &Hex32) -> String {
    let mut text = name.to_string();
    text.truncate(12);
    text
}

fn quoted(text: Option<&str>) -> String {
    text.map(|text| format!(" \"{text}\"")).unwrap_or_default()
}

impl Display for PostExplained {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "post {} in {}", self.post, self.network)?;
        let said = quoted(self.title.as_deref().or(self.text.as_deref()));
        writeln!(f, "  by {}, weight {}:{said}", self.author, amount(self.author_weight))?;
        writeln!(f, "  {}", self.why.as_deref().unwrap_or(self.status))?;
        write!(f, "  score {}, replicas {}", amount(self.score), self.replicas)?;
        for (name, count) in self.counts.as_object().into_iter().flatten() {
            if count.as_u64() != Some(0) {
                let name =
                    if name == "cites" { "citations or replies".to_owned() } else { name.replace('_', " ") };
                write!(f, ", {name} {count}")?;
            }
        }
        writeln!(f)?;
        match self.arguments.len() {
            0 => writeln!(f, "  no contradictions")?,
            _ => writeln!(f, "  arguments against it, and against these in turn")?,
        }
        some(f, &self.arguments, 2, |f, argument| argument.write(f, 2, &self.post))?;
        match self.signals.len() {
            0 => writeln!(f, "  no signals"),
            n => writeln!(f, "  signals of {n} {}, by voice", if n == 1 { "key" } else { "keys" }),
        }?;
        some(f, &self.signals, 2, |f, signals| signals.write(f))
    }
}

/// The first of a list, and how many are left out.
fn some<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    indent: usize,
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    items.iter().take(SHOWN).try_for_each(|item| write(f, item))?;
    match items.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(f, "{:1$}and {more} more; --json has them all", "", 2 * indent),
    }
}

impl Argument {
    fn write(&self, f: &mut Formatter<'_>, indent: usize, post: &Hex32) -> fmt::Result {
        let label = self.label.unwrap_or("-");
        let kind = if self.evidence { "evidence" } else { "argument" };
        let (event, by) = (short(&self.event), short(&self.by));
        let said = quoted(self.text.as_deref());
        let (weight, voice) = (amount(self.weight), amount(self.voice));
        write!(f, "{:1$}{label:<5} {kind} {event}", "", 2 * indent)?;
        if let Some(rest) = &self.rests_on {
            write!(f, " resting on {}", short(rest))?;
        }
        write!(f, "{said}, by {by}, weight {weight}")?;
        if self.force < self.weight {
            write!(f, ", force {} as it contradicts much", amount(self.force))?;
        }
        write!(f, ", voice {voice}")?;
        if let Some(reason) = &self.set_aside {
            write!(f, "; {reason}")?;
        }
        let elsewhere = match (self.again, self.event == *post) {
            (true, true) => "; the post itself",
            (true, false) => "; followed where it is nearer to the post",
            (false, _) => "",
        };
        writeln!(f, "{elsewhere}")?;
        some(f, &self.arguments, indent + 1, |f, argument| argument.write(f, indent + 1, post))
    }
}

impl SignalsBy {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut said = String::new();
        for signal in &self.signals {
            let comma = if said.is_empty() { "" } else { ", " };
            write!(said, "{comma}{}", signal.kind)?;
            if let Some(evidence) = signal.evidence {
                write!(said, " with {evidence} evidence")?;
            }
            let live = if signal.live { "live" } else { "no longer live" };
            write!(said, " {} ({live}, {} days)", amount(signal.value), signal.days)?;
        }
        let (by, voice, adds) = (short(&self.by), amount(self.voice), amount(self.contribution));
        write!(f, "    {by} voice {voice}: {said}; adds {adds}")?;
        if let Some(verdict) = self.verdict {
            write!(f, "; the contradiction {verdict}")?;
        }
        if self.outlived {
            write!(f, ", and is outlived: it does not contest the post")?;
        }
        if let Some(reason) = self.set_aside {
            write!(f, "; {reason}")?;
        }
        for (name, other) in [("group", &self.group), ("class", &self.class)] {
            if *other != self.by {
                write!(f, "; {name} {}", short(other))?;
            }
        }
        writeln!(f)
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Stands => "stands",
            Verdict::Undecided => "is undecided",
            Verdict::Rebutted => "was rebutted",
            Verdict::Ignored => "is ignored",
        })
    }
}

impl Display for KeyExplained {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "key {} in {}", self.key, self.network)?;
        let (trust, weight) = (amount(self.trust), amount(self.weight));
        writeln!(f, "  trust {trust}, weight {weight}: trust and a floor of {}", amount(self.floor.floor))?;
        let (reputation, voice) = (amount(self.reputation), amount(self.voice));
        let (earned, lost) = (amount(self.earned.sum), amount(self.lost.sum));
        writeln!(
            f,
            "  reputation {reputation}: weight, and {earned} earned, less {lost} lost; voice {voice}"
        )?;
        self.write_trust(f)?;
        self.floor.write(f)?;
        self.earned.write(f, "earned")?;
        self.lost.write(f, "lost")?;
        writeln!(f, "  group {}", short(&self.group))?;
        if let Some(owner) = &self.owner {
            writeln!(f, "  owner \"{owner}\"")?;
        }
        writeln!(f, "  class {}", short(&self.class))?;
        writeln!(f, "  origins {}", names(&self.origins))?;
        writeln!(f, "  sponsors {}", names(&self.sponsors))?;
        self.because.iter().try_for_each(|sentence| writeln!(f, "    {sentence}"))
    }
}

fn names(names: &[Hex32]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(short).collect::<Vec<_>>().join(" "),
    }
}

impl KeyExplained {
    fn write_trust(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let trusted = &self.trusted;
        let seeded = trusted.seeded.map(|why| format!(" ({why})")).unwrap_or_default();
        let [one, two, three] = trusted.hops.map(amount);
        writeln!(f, "  trust comes from a seed of {}{seeded}", amount(trusted.seed))?;
        writeln!(f, "    and over one hop {one}, over two {two}, over three {three}")?;
        trusted.paths.iter().try_for_each(|hop| hop.write(f, 2))?;
        match trusted.backers.saturating_sub(trusted.paths.len()) {
            0 => Ok(()),
            more => writeln!(f, "    and {more} more that back it and bring less"),
        }
    }
}

impl Floor {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(none) = self.none {
            return writeln!(f, "  floor 0: {none}");
        }
        let (floor, age) = (amount(self.floor), amount(self.age));
        writeln!(
            f,
            "  floor {floor}: age gives {age}, work {}, and the network is {}/16 cold",
            self.work, self.cold
        )
    }
}

impl Hop {
    fn write(&self, f: &mut Formatter<'_>, indent: usize) -> fmt::Result {
        let from = short(&self.from);
        let who = match (self.profile, self.seed > Fixed::ZERO) {
            (true, _) => " (own profile)".to_owned(),
            (false, true) => format!(" (seed {})", amount(self.seed)),
            (false, false) => String::new(),
        };
        let mut how = Vec::new();
        if self.vouched {
            how.push("vouches".to_owned());
        }
        if self.value > Fixed::ZERO {
            how.push(format!("relies on its posts for {}", amount(self.value)));
        }
        let (passed, share) = (amount(self.passed), amount(self.share));
        write!(f, "{:1$}{passed} from {from}{who}, share {share}: {2}", "", 2 * indent, how.join(", "))?;
        writeln!(f, "{}", if self.closed { "; closed, it would lead trust back" } else { "" })?;
        self.paths.iter().try_for_each(|hop| hop.write(f, indent + 1))
    }
}

impl Earned {
    fn write(&self, f: &mut Formatter<'_>, name: &str) -> fmt::Result {
        let (sum, groups, classes) = (amount(self.sum), amount(self.by_groups), amount(self.by_classes));
        write!(f, "  {name} {sum}: by groups {groups}, by classes {classes}, the smaller counts")?;
        if self.accusing > Fixed::ZERO {
            write!(f, "; and {} by its own accusations", amount(self.accusing))?;
        }
        writeln!(f)?;
        some(f, &self.parts, 2, |f, part| {
            let (worth, top, value) = (amount(part.worth), amount(part.top), amount(part.value));
            writeln!(f, "    {worth} from {}: weight {top}, value {value}", short(&part.part))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        let amounts = [0, 5_000_000, -1_500_000_000, 1, i64::MIN].map(|x| amount(Fixed(x)));
        assert_eq!(amounts, ["0", "0.005", "-1.5", "0.000000001", "-9223372036.854775808"]);
    }
}
