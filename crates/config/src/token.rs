//! The token that a client shows to write.

/// The secret that a client must show to write.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The shortest that is not easily guessed.
    pub const MIN: usize = 16;

    /// Takes a text without its line end; none when it is shorter than [`Token::MIN`] or not printable.
    pub fn new(text: &str) -> Option<Token> {
        let text = text.trim_end();
        let fit = text.len() >= Token::MIN && text.bytes().all(|b| b.is_ascii_graphic());
        fit.then(|| Token(text.to_owned()))
    }

    /// Whether a header shows it; the time this takes tells nothing of the token.
    pub fn is_shown(&self, header: Option<&str>) -> bool {
        let shown = header.and_then(|h| h.strip_prefix("Bearer ")).unwrap_or_default();
        blake3::hash(shown.as_bytes()) == blake3::hash(self.0.as_bytes())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}
