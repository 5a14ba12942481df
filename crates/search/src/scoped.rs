//! The tokenizer as the index calls it.

use super::tokenizer::Scanner;
use tantivy::tokenizer::{Token as Indexed, TokenStream, Tokenizer};

/// The name under which the index knows this tokenizer.
pub(super) const NAME: &str = "wats1";

/// Between the name of a network and what belongs to it: names of networks hold no such byte.
pub(super) const SCOPE: char = '\0';

/// Scopes tokens: the text of a field is the name of the network, a zero byte and the text itself, and the
/// name is put before each token. No token of one network is one of another.
#[derive(Debug, Default)]
pub(super) struct Scoped {
    scanner: Scanner,
}

impl Clone for Scoped {
    fn clone(&self) -> Scoped {
        Scoped::default()
    }
}

impl Tokenizer for Scoped {
    type TokenStream<'a> = ScopedStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ScopedStream<'a> {
        let prefix = text.find(SCOPE).map_or(0, |at| at + 1);
        self.scanner.start(prefix);
        ScopedStream {
            scanner: &mut self.scanner,
            text,
            prefix,
            next: 0,
            begun: false,
            token: Indexed::default(),
        }
    }
}

/// The tokens of one text.
#[derive(Debug)]
pub(super) struct ScopedStream<'a> {
    scanner: &'a mut Scanner,
    text: &'a str,
    prefix: usize,
    next: usize,
    /// Whether the scanner's chunk is of this text.
    begun: bool,
    token: Indexed,
}

impl TokenStream for ScopedStream<'_> {
    fn advance(&mut self) -> bool {
        while !self.begun || self.scanner.chunk().get(self.next).is_none() {
            if self.scanner.next(self.text).is_none() {
                return false;
            }
            (self.begun, self.next) = (true, 0);
        }
        let Some((token, folded)) = self.scanner.chunk().get(self.next) else {
            return false;
        };
        self.token.text.clear();
        self.token.text.push_str(&self.text[..self.prefix]);
        self.token.text.push_str(folded);
        self.token.position = token.position as usize;
        self.token.offset_from = token.from.start;
        self.token.offset_to = token.from.end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Indexed {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Indexed {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoped_token_bears_its_network() {
        let mut scoped = Scoped::default();
        let mut stream = scoped.token_stream("main\0Foo bar");
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        assert_eq!(found, [("main\0foo".to_owned(), 0), ("main\0bar".to_owned(), 1)]);
    }
}
