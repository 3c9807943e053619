//! The word that a client has to know.

use blake3::Hash;

/// The word that a client has to know. Only its hash is kept: hashes are compared in constant time, so that
/// how long a refusal takes says neither how much of a guess was right nor how long the word is.
pub struct Token(Hash);

impl Token {
    /// A shorter one could be guessed.
    pub const SHORTEST: usize = 16;

    /// A token of this text, of which blanks and line ends around are no part. None where it is shorter than
    /// [`Token::SHORTEST`], or where it has a character that a header of HTTP cannot have.
    pub fn new(text: &str) -> Option<Token> {
        let text = text.trim();
        let is_whole = text.len() >= Token::SHORTEST && text.bytes().all(|b| b.is_ascii_graphic());
        is_whole.then(|| Token(blake3::hash(text.as_bytes())))
    }

    /// Whether this is the word.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.0 == blake3::hash(given.trim().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_can_be_sent() {
        assert!(Token::new("0123456789abcde").is_none(), "15 characters");
        assert!(Token::new("0123456789 abcdef").is_none(), "a blank within");
        assert!(Token::new("0123456789abcdéf").is_none(), "no ASCII");
        let token = Token::new("  0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeg") && !token.is(""));
    }
}
