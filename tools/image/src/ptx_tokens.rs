//! Splits PTX text into words and single signs, without comments and strings.

/// The words of a text, one after another.
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Starts at the first byte.
    pub fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// Drops white space, comments, string literals and the lines that preprocessors leave.
    fn skip_blank(&mut self) {
        loop {
            let skipped = match self.rest {
                [b'/', b'/', ..] | [b'#', ..] => memchr::memchr(b'\n', self.rest),
                [b'/', b'*', tail @ ..] => memchr::memmem::find(tail, b"*/").map(|at| at + 4),
                [b'"', tail @ ..] => memchr::memchr(b'"', tail).map(|at| at + 2),
                [first, ..] if first.is_ascii_whitespace() => Some(1),
                _ => return,
            };
            self.advance(skipped.unwrap_or(self.rest.len()));
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_blank();
        let end = (1..self.rest.len()).find(|at| !goes_on(self.rest, *at));
        let token = self.rest.get(..end.unwrap_or(self.rest.len()))?;
        self.advance(token.len());
        Some(token).filter(|token| !token.is_empty())
    }
}

/// Whether a word goes on at that byte, which is not the first. A dot starts a new one, but within
/// a number: `8.8.target` is two.
fn goes_on(text: &[u8], at: usize) -> bool {
    let is = |at: usize, what: fn(&u8) -> bool| text.get(at).is_some_and(what);
    let digit = |at| is(at, u8::is_ascii_digit);
    let starts = is(at, |byte| *byte == b'.') && !(digit(at - 1) && digit(at + 1));
    !starts && is(at, |byte| is_word(*byte)) && is(at - 1, |byte| is_word(*byte))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs() {
        let found: Vec<&[u8]> = Tokens::new(b" .a /* x */ b(\"q;\")//e\n;$c%1").collect();
        let found: Vec<&str> = found
            .iter()
            .map(|t| std::str::from_utf8(t).unwrap())
            .collect();
        assert_eq!(found, [".a", "b", "(", ")", ";", "$c%1"]);
        // ptxas takes what follows a word without a gap, and a preprocessor's lines.
        let found: Vec<&[u8]> = Tokens::new(b".v 8.10.t sm_80.a 64\n# 1 \"x\"\n.b").collect();
        assert_eq!(found.join(&b' '), b".v 8.10 .t sm_80 .a 64 .b");
        assert_eq!(Tokens::new(b"/* open").count(), 0);
        assert_eq!(Tokens::new(b"\"open").count(), 0);
        assert_eq!(Tokens::new(b"// open").count(), 0);
    }
}
