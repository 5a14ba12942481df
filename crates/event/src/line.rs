//! Text of authors as one line that is safe to show, with parts of it highlighted.

use crate::excerpt::{MAX_MARKS, is_hidden, is_mark};

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
    gap: bool,
    marks: usize,
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
            gap: false,
            marks: 0,
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
        if c.is_whitespace() {
            self.gap = self.chars > 0;
            return true;
        }
        let mark = is_mark(c);
        self.marks = if mark { self.marks + 1 } else { 0 };
        if is_hidden(c) || self.marks > MAX_MARKS || (mark && (self.chars == 0 || self.gap)) {
            return true;
        }
        // One place is kept for what tells that there was more.
        if self.chars + usize::from(self.gap) + 1 >= self.most {
            self.end_light();
            self.put('…');
            return false;
        }
        if std::mem::take(&mut self.gap) {
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
