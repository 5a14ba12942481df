//! Text of authors as one line that is safe to show, with parts of it highlighted.

use crate::excerpt::LineFilter;

/// The beginning of a text as one line of at most `most` characters; none when nothing is left.
pub fn line(text: &str, most: usize) -> Option<String> {
    let mut out = LineWriter::new(most);
    for c in text.chars() {
        if !out.write(c, false) {
            break;
        }
    }
    Some(out.done().0).filter(|text| !text.is_empty())
}

/// A line under construction, without control characters and what reorders or hides text.
#[derive(Debug)]
pub struct LineWriter {
    text: String,
    highlights: Vec<(usize, usize)>,
    chars: usize,
    most: usize,
    filter: LineFilter,
    lit: Option<usize>,
}

impl LineWriter {
    /// A line of at most `most` characters.
    pub fn new(most: usize) -> LineWriter {
        LineWriter {
            text: String::new(),
            highlights: Vec::new(),
            chars: 0,
            most,
            filter: LineFilter::default(),
            lit: None,
        }
    }

    /// Adds a character as it is.
    pub fn put(&mut self, c: char) {
        self.text.push(c);
        self.chars += 1;
    }

    fn end_light(&mut self) {
        if let Some(from) = self.lit.take() {
            self.highlights.push((from, self.chars));
        }
    }

    /// Adds a character of an author, unless it is hidden; `lit` marks it as highlighted. False when the line is full.
    pub fn write(&mut self, c: char, lit: bool) -> bool {
        if !lit {
            self.end_light();
        }
        let Some(gap) = self.filter.shows(c, self.chars > 0) else {
            return true;
        };
        // One place is kept for what tells that there was more.
        if self.chars + usize::from(gap) + 1 >= self.most {
            self.end_light();
            self.put('…');
            return false;
        }
        if gap {
            // A gap within what is lit does not end the light.
            self.put(' ');
        }
        if lit && self.lit.is_none() {
            self.lit = Some(self.chars);
        }
        self.put(c);
        true
    }

    /// The line, and its highlights: from, and up to, in characters.
    pub fn done(mut self) -> (String, Vec<(usize, usize)>) {
        self.end_light();
        (self.text, self.highlights)
    }
}
