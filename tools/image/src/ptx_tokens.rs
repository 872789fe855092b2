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

    /// Drops white space, comments and string literals.
    fn skip_blank(&mut self) {
        loop {
            let skipped = match self.rest {
                [b'/', b'/', ..] => memchr::memchr(b'\n', self.rest),
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
        let length = self
            .rest
            .iter()
            .position(|byte| !is_word(*byte))
            .unwrap_or(self.rest.len())
            .max(1);
        let token = self.rest.get(..length)?;
        self.advance(length);
        Some(token)
    }
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
        assert_eq!(Tokens::new(b"/* open").count(), 0);
        assert_eq!(Tokens::new(b"\"open").count(), 0);
        assert_eq!(Tokens::new(b"// open").count(), 0);
    }
}
