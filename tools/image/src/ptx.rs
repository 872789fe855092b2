//! PTX: the text that NVIDIA's driver compiles at run time.
//!
//! A module starts with `.version`, then `.target`, then mostly `.address_size`, with comments
//! anywhere. Source: NVIDIA's PTX ISA manual, "PTX module directives".

use crate::error::{Error, Result};
use crate::ptx_isa::PtxIsa;
use crate::ptx_tokens::Tokens;
use crate::target::Sm;

/// The directive that every module starts with, comments aside.
pub const VERSION: &[u8] = b".version";

/// In so much text the first directives of a module are over. Compilers put a few comment lines there;
/// see [`has_long_head`] for the others.
const HEAD: usize = 4096;

/// What a PTX module says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptx {
    /// `.version`
    pub isa: PtxIsa,
    /// The first word of `.target`; compilers write there whatever name they were given.
    pub target: String,
    /// The same, read; `None` where it is no `sm_NN`.
    pub sm: Option<Sm>,
    /// `.address_size`, in bits.
    pub address_size: Option<u32>,
    /// The entries that can be launched by name, sorted.
    pub kernels: Vec<String>,
}

impl Ptx {
    /// Reads a module that starts at the first byte, after comments. A NUL ends it.
    ///
    /// # Errors
    /// The directives that every module starts with are not there; the offset is `base`, where in
    /// its file the text starts.
    pub fn parse(text: &[u8], base: u64) -> Result<Self> {
        let mut tokens = Tokens::new(up_to_nul(text));
        let Head { isa, target } = head(&mut tokens).ok_or_else(|| {
            Error::malformed(
                "PTX",
                base,
                "it does not start with `.version N.N` and `.target NAME`",
            )
        })?;
        let mut found = Self {
            isa,
            sm: sm(&target),
            target,
            address_size: None,
            kernels: Vec::new(),
        };
        found.read_body(&mut tokens);
        found.kernels.sort();
        found.kernels.dedup();
        Ok(found)
    }

    fn read_body(&mut self, tokens: &mut Tokens<'_>) {
        // The driver finds entries by name whether they are `.visible` or not.
        let mut elsewhere = false;
        // What `.entry` and `.extern` start with: few words among very many.
        let words = memchr::memmem::Finder::new(".e");
        while let Some(token) = tokens.next() {
            match token {
                b".address_size" if self.address_size.is_none() => {
                    self.address_size = tokens.next().and_then(number);
                }
                b".extern" => elsewhere = true,
                b";" | b"{" | b"}" => elsewhere = false,
                b".entry" => {
                    if let Some(name) = tokens.next().filter(|_| !elsewhere) {
                        self.kernels
                            .push(String::from_utf8_lossy(name).into_owned());
                    }
                    elsewhere = false;
                }
                _ => {}
            }
            // No others matter now.
            if self.address_size.is_some() && !elsewhere {
                tokens.skip_to(&words);
            }
        }
    }
}

/// The entries of a module that are `.visible`: neither weak, nor local to it, nor defined elsewhere.
pub(crate) fn visible_entries(text: &[u8]) -> Vec<String> {
    let mut tokens = Tokens::new(up_to_nul(text));
    let mut found = Vec::new();
    let mut visible = false;
    while let Some(token) = tokens.next() {
        match token {
            b".visible" => visible = true,
            b".entry" if visible => {
                let name = tokens.next().map(String::from_utf8_lossy);
                found.extend(name.map(std::borrow::Cow::into_owned));
                visible = false;
            }
            _ => visible = false,
        }
    }
    found
}

/// Whether bytes are a PTX module from the start, comments aside.
#[must_use]
pub fn is_ptx(text: &[u8]) -> bool {
    head(&mut Tokens::new(up_to_nul(text))).is_some()
}

fn up_to_nul(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The length of the PTX module that stands as plain text at the start of other bytes; `None` where
/// there is none.
///
/// A module is taken to start at `.version`, to have a `.target sm_` next, and an address size or a
/// definition after that; it ends where text ends or the next one starts. The bytes of the next
/// string may follow a module without a gap, so the length is an upper bound.
#[must_use]
pub fn module_length(data: &[u8]) -> Option<usize> {
    if !starts_module(data) {
        return None;
    }
    let next = memchr::memmem::find_iter(data, VERSION)
        .skip(1)
        .find(|at| data.get(*at..).is_some_and(starts_module_nearby));
    let data = data.get(..next.unwrap_or(data.len()))?;
    let defines = |text: &[u8]| {
        let has = |word: &&[u8]| memchr::memmem::find(text, word).is_some();
        DEFINITIONS.iter().any(has)
    };
    // Other control characters than a NUL are no text, but a comment may have them.
    let ends = [
        data.iter().position(|byte| !is_text(*byte)),
        memchr::memchr(0, data),
    ];
    ends.into_iter()
        .map(|end| end.unwrap_or(data.len()))
        // The text may end within the head: in a comment there is room for anything.
        .find(|end| {
            let text = data.get(..*end);
            text.is_some_and(|text| starts_module(text) && defines(text))
        })
}

/// What a module has at least one of.
const DEFINITIONS: [&[u8]; 5] = [b".address_size", b".entry", b".func", b".global", b".const"];

/// Whether a few thousand bytes do not tell if a module starts here, for comments. To find out,
/// [`module_length`] may have to read all of it: who searches has to count these places.
#[must_use]
pub fn has_long_head(data: &[u8]) -> bool {
    let Some(text) = data.get(..HEAD).filter(|text| text.starts_with(VERSION)) else {
        return false;
    };
    let mut tokens = Tokens::new(text);
    // The last word may be cut.
    let _ = head(&mut tokens);
    tokens.next().is_none()
}

fn starts_module(text: &[u8]) -> bool {
    text.starts_with(VERSION)
        && head(&mut Tokens::new(text)).is_some_and(|head| sm(&head.target).is_some())
}

fn starts_module_nearby(text: &[u8]) -> bool {
    starts_module(text.get(..HEAD).unwrap_or(text))
}

/// ptxas takes the name of a virtual architecture as well, and zeros before the number.
fn sm(target: &str) -> Option<Sm> {
    let number = ["sm_", "compute_"]
        .iter()
        .find_map(|start| target.strip_prefix(start))?;
    Sm::parse(&format!("sm_{}", number.trim_start_matches('0')))
}

struct Head {
    isa: PtxIsa,
    target: String,
}

fn head(tokens: &mut Tokens<'_>) -> Option<Head> {
    if tokens.next()? != VERSION {
        return None;
    }
    let version = std::str::from_utf8(tokens.next()?).ok()?;
    let (major, minor) = version.split_once('.')?;
    let isa = PtxIsa {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    };
    if tokens.next()? != b".target" {
        return None;
    }
    let target = std::str::from_utf8(tokens.next()?).ok()?.to_owned();
    Some(Head { isa, target })
}

fn number(token: &[u8]) -> Option<u32> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Text in the sense of source code: no control characters but white space. Bytes above ASCII may
/// stand in comments.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &[u8] = include_bytes!("../tests/data/tiny.ptx");

    #[test]
    fn reads_head_and_entries() {
        let ptx = Ptx::parse(TINY, 0).unwrap();
        assert_eq!(ptx.isa.to_string(), "7.0");
        assert_eq!(ptx.target, "sm_70");
        assert_eq!(ptx.address_size, Some(64));
        assert_eq!(ptx.kernels, ["fill", "nothing"]);
    }

    #[test]
    fn comments_strings_and_functions_do_not_confuse() {
        let text: &[u8] =
            b"// .version 1.0\n/* .entry no( */ .version 8.10 .target sm_90a, debug\n\
            .entry hidden() { ret; }\n.visible .func .entry_like() { }\n.extern .entry far();\n\
            .visible\n.entry // c\n shown() { }\n.weak .entry w() {}\n\
            .file 1 \"a .visible .entry quoted(\"\n";
        // Where the address size is known, most words are not looked at.
        let known = String::from_utf8_lossy(text).replace(", debug", ".address_size 64");
        for (text, size) in [(text, None), (known.as_bytes(), Some(64))] {
            let ptx = Ptx::parse(text, 0).unwrap();
            assert_eq!((ptx.isa.major, ptx.isa.minor), (8, 10));
            assert_eq!(ptx.sm.unwrap().to_string(), "sm_90a");
            assert_eq!(ptx.kernels, ["hidden", "shown", "w"]);
            assert_eq!(ptx.address_size, size);
        }
    }

    #[test]
    fn a_target_that_is_no_sm_is_kept_as_text() {
        let ptx = Ptx::parse(b".version 7.0\n.target bogus\n", 0).unwrap();
        assert_eq!((ptx.target.as_str(), ptx.sm), ("bogus", None));
    }

    #[test]
    fn not_ptx() {
        for text in [
            "",
            "// only a comment",
            ".version",
            ".version 7 .target sm_70",
            "int x;",
            "/* \0 */ .version 7.0 .target sm_70",
        ] {
            let error = Ptx::parse(text.as_bytes(), 64).unwrap_err();
            assert_eq!(error.offset(), 64);
            assert!(!is_ptx(text.as_bytes()));
        }
    }

    /// All of these were given to ptxas, which compiles them.
    #[test]
    fn finds_every_module_that_is_compiled() {
        let comment = "x".repeat(2 * HEAD);
        for text in [
            ".version 8.8.target sm_80.address_size 64\n".to_owned(),
            ".version 8.8\n# 1 \"x.cu\"\n.target sm_80\n.address_size 64\n".to_owned(),
            ".version 8.8\n.target compute_80\n.address_size 64\n".to_owned(),
            ".version 08.8\n.target sm_080\n.address_size 64\n".to_owned(),
            ".version 8.8\n//\x01\n.target sm_80\n/*\x01*/ .address_size 64\n".to_owned(),
            ".version 8.8 /* .entry \x01 */ .target sm_80\n".to_owned(),
            format!(".version 8.8 //{comment}\n.target sm_80\n.address_size 64\n"),
        ] {
            let data = format!("{text}\0{text}");
            assert_eq!(module_length(data.as_bytes()), Some(text.len()), "{text:?}");
            assert!(is_ptx(text.as_bytes()));
            let ptx = Ptx::parse(text.as_bytes(), 0).unwrap();
            assert_eq!(ptx.sm.unwrap().to_string(), "sm_80");
        }
        assert!(is_ptx(
            format!("//{comment}\n.version 8.8 .target sm_80").as_bytes()
        ));
    }

    #[test]
    fn long_heads_are_told() {
        for (head, long) in [
            (".version 8.8 /*", true),
            // The last word of the part that is looked at first may be cut.
            (
                &format!(".version 8.8{}.target sm_8", " ".repeat(HEAD - 22)),
                true,
            ),
            (".version 8.8 .target sm_80 .b ", false),
            ("version 8.8 /*", false),
        ] {
            let text = format!("{head}{}", "0".repeat(HEAD));
            assert_eq!(has_long_head(text.as_bytes()), long, "{head:?}");
        }
        assert!(!has_long_head(b".version 8.8 /*"));
    }

    #[test]
    fn measures_modules_among_other_bytes() {
        for after in [&b"\0abc"[..], TINY, b"", b"\x01"] {
            let data = [TINY, after].concat();
            assert_eq!(module_length(&data), Some(TINY.len()), "{after:?}");
        }
        for not in [
            &b"a.version 1.2"[..],
            b".version 1.2 is a doc",
            b".version 7.0\n.target sm_70\nand nothing more",
            b".version %s\n.target sm_%d\n.address_size 64",
            b".version 7.0\n.target sm_70\n\0.address_size 64",
            b".version 7.0 /* .entry \0 */ .target sm_70",
            b".version 7.0 /* .entry .version 8.0 .target sm_80 */ .target sm_70",
        ] {
            assert_eq!(module_length(not), None, "{:?}", not.escape_ascii());
        }
    }
}
