//! Splits PTX text into words and single signs, without comments and strings.

use memchr::memmem::Finder;

/// The words of a text, one after another.
pub struct Tokens<'a> {
    rest: &'a [u8],
    /// How many of the next bytes are known to be code.
    code: usize,
}

impl<'a> Tokens<'a> {
    /// Starts at the first byte.
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            code: 0,
        }
    }

    /// Goes to the next place in code where the bytes are that are looked for, or to the end: many times
    /// as fast as word by word. None of them may be a sign that a comment or a string starts with.
    pub fn skip_to(&mut self, bytes: &Finder<'_>) {
        while !self.rest.is_empty() {
            let code = self.rest.get(..self.code).unwrap_or_default();
            if let Some(at) = bytes.find(code) {
                return self.advance(at);
            }
            self.advance(self.code);
            if let Some(length) = aside(self.rest) {
                self.advance(length);
            } else {
                // The first byte may be such a sign, by itself.
                let tail = self.rest.get(1..).unwrap_or_default();
                let next = memchr::memchr3(b'/', b'#', b'"', tail);
                self.code = next.map_or(self.rest.len(), |at| at + 1);
            }
        }
    }

    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
        self.code = self.code.saturating_sub(count);
    }

    fn skip_blank(&mut self) {
        while let Some(length) = blank(self.rest).or_else(|| aside(self.rest)) {
            self.advance(length);
        }
    }
}

/// The length of the white space at the start; `None` where there is none.
fn blank(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(|byte| !byte.is_ascii_whitespace());
    Some(end.unwrap_or(text.len())).filter(|length| *length > 0)
}

/// The length of the comment, the string literal or the line left by a preprocessor that is at the
/// start; `None` where there is none.
fn aside(text: &[u8]) -> Option<usize> {
    let length = match text {
        [b'/', b'/', ..] | [b'#', ..] => memchr::memchr(b'\n', text),
        [b'/', b'*', tail @ ..] => memchr::memmem::find(tail, b"*/").map(|at| at + 4),
        [b'"', tail @ ..] => memchr::memchr(b'"', tail).map(|at| at + 2),
        _ => return None,
    };
    Some(length.unwrap_or(text.len()))
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
        for open in ["/* open", "\"open", "// open"] {
            assert_eq!(Tokens::new(open.as_bytes()).count(), 0);
        }
    }

    #[test]
    fn skips_to_code_alone() {
        let text = b"a.b;/.x //.e\n\"/.e\"\n#.e\n/*.e*/ / .e1/.e2 .e3 \".e";
        let mut tokens = Tokens::new(text);
        let mut found = Vec::new();
        loop {
            tokens.skip_to(&Finder::new(".e"));
            let Some(token) = tokens.next() else { break };
            found.push(token.to_vec());
        }
        assert_eq!(found, [b".e1", b".e2", b".e3"]);
        // From the middle of what is known to be code, too, and beyond it.
        tokens = Tokens::new(b"a b .c /*d*/ e \".c\" .c");
        for rest in [&b".c /"[..], b".c"] {
            tokens.skip_to(&Finder::new(".c"));
            assert!(tokens.rest.starts_with(rest));
            tokens.next();
        }
        tokens.skip_to(&Finder::new(".c"));
        assert_eq!(tokens.next(), None);
    }
}
