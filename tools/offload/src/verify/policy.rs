//! The rules of a run: those of a policy file, with those of the command line in their place, and
//! exceptions for some paths. `docs/verify.md` describes the file.

use std::path::Path;

use glob::{MatchOptions, Pattern};
use serde_json::{Map, Value};

use super::rules::{Keys, Rules};
use super::unique;
use crate::failure::Failure;
use crate::files;

/// What all files are held against, but for exceptions.
#[derive(Debug, Default)]
pub struct Policy {
    pub rules: Rules,
    pub exceptions: Vec<Exception>,
}

/// Other rules for some files.
#[derive(Debug)]
pub struct Exception {
    pub path: Pattern,
    pub reason: String,
    keys: Keys,
}

impl Policy {
    /// Of the file, if there is one, and the command line.
    pub fn new(file: Option<&Path>, flags: &Keys) -> Result<Self, Failure> {
        let mut policy = match file {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        policy.rules.set(flags);
        let empty = |rules: Rules| rules.forbid_texts.iter().any(String::is_empty);
        if policy.all_rules().any(empty) {
            return Err(Failure::usage(
                "forbid-text: the empty text is in every image; name one that is not",
            ));
        }
        Ok(policy)
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.rules == Rules::default() && self.exceptions.is_empty()
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let wrong =
            |why: String| Failure::unreadable(format!("{}: no policy: {why}", path.display()));
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        // Some editors start text with a byte order mark.
        Self::parse(text.trim_start_matches('\u{feff}')).map_err(wrong)
    }

    /// JSON starts with a brace, and no TOML does.
    fn parse(text: &str) -> Result<Self, String> {
        let mut keys: Map<String, Value> = if text.trim_start().starts_with('{') {
            unique::parse(text)?
        } else {
            basic_toml::from_str(text).map_err(|error| error.to_string())?
        };
        let exceptions = match keys.remove("exceptions") {
            None => Vec::new(),
            Some(Value::Array(exceptions)) => exceptions,
            Some(_) => return Err("`exceptions` is a list of tables".to_owned()),
        };
        let mut policy = Self::default();
        policy.rules.set(&read_keys(keys)?);
        for (index, exception) in exceptions.into_iter().enumerate() {
            let exception = Exception::parse(exception)
                .map_err(|why| format!("exception {}: {why}", index + 1))?;
            policy.exceptions.push(exception);
        }
        Ok(policy)
    }

    /// The rules for a file or a member, and the exceptions that made them so.
    pub fn rules_for(&self, path: &str) -> (Rules, Vec<usize>) {
        let mut rules = self.rules.clone();
        let mut used = Vec::new();
        for (index, exception) in self.exceptions.iter().enumerate() {
            if exception.covers(path) {
                rules.set(&exception.keys);
                used.push(index);
            }
        }
        (rules, used)
    }

    /// Every set of rules that some file may be held against.
    pub fn all_rules(&self) -> impl Iterator<Item = Rules> + '_ {
        let excepted = self.exceptions.iter().map(|exception| {
            let mut rules = Rules::default();
            rules.set(&exception.keys);
            rules
        });
        std::iter::once(self.rules.clone()).chain(excepted)
    }
}

fn read_keys(keys: Map<String, Value>) -> Result<Keys, String> {
    serde_json::from_value(Value::Object(keys)).map_err(|error| error.to_string())
}

impl Exception {
    fn parse(value: Value) -> Result<Self, String> {
        let Value::Object(mut keys) = value else {
            return Err("it is no table".to_owned());
        };
        let path = text(
            &mut keys,
            "path",
            "which files it is for, such as \"lib/*.so\"",
        )?;
        let reason = text(&mut keys, "reason", "why these files may differ")?;
        let keys = read_keys(keys)?;
        if keys.require_kernel.is_some() {
            return Err(
                "`require-kernel` holds for all files together, and has no exceptions".to_owned(),
            );
        }
        if keys == Keys::default() {
            return Err("it sets no rule, such as `ptx = \"embed\"`".to_owned());
        }
        let path = Pattern::new(&path).map_err(|error| format!("`path = \"{path}\"`: {error}"))?;
        Ok(Self { path, reason, keys })
    }

    /// A pattern may start at any folder of the path, so that nobody has to know where a build puts
    /// its files.
    fn covers(&self, path: &str) -> bool {
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::new()
        };
        let starts = path.match_indices('/').map(|(at, _)| at + 1);
        std::iter::once(0)
            .chain(starts)
            .filter_map(|at| path.get(at..))
            .any(|end| self.path.matches_with(end, options))
    }
}

fn text(keys: &mut Map<String, Value>, key: &str, says: &str) -> Result<String, String> {
    match keys.remove(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        _ => Err(format!("it needs a text `{key}`: {says}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_image::policy::PtxPolicy;

    const TOML: &str = r#"
        ptx = "forbid"
        require-arch = ["sm_90", "gfx90a"]
        max-total-bytes = 5_000_000
        [[exceptions]]
        path = "lib/*.so"
        reason = "the vendor ships PTX only"
        ptx = "embed"
        require-arch = []
    "#;

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = Policy::parse(TOML).unwrap();
        let json = Policy::parse(
            r#"{"ptx": "forbid", "require-arch": ["sm_90", "gfx90a"], "max-total-bytes": 5000000,
                "exceptions": [{"path": "lib/*.so", "reason": "the vendor ships PTX only",
                                "ptx": "embed", "require-arch": []}]}"#,
        )
        .unwrap();
        assert_eq!(toml.rules, json.rules);
        assert_eq!(toml.rules.max_total_bytes, Some(5_000_000));
        for policy in [toml, json] {
            for path in ["lib/a.so", "dist/lib/a.so", "w.whl/lib/a.so"] {
                let (rules, used) = policy.rules_for(path);
                assert_eq!(rules.ptx, Some(PtxPolicy::Embed), "{path}");
                assert_eq!((rules.require_archs, used), (vec![], vec![0]), "{path}");
            }
            for path in ["lib/a/b.so", "xlib/a.so", "a.so", "lib/a.so.1"] {
                let (rules, used) = policy.rules_for(path);
                assert_eq!((&rules, used), (&policy.rules, vec![]), "{path}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, says) in [
            ("ptx = \"never\"", "unknown PTX policy `never`"),
            ("ptx", "expected"),
            ("require-archs = []", "unknown field `require-archs`"),
            (
                "forbid-arch = [\"gfx90b\"]",
                "unknown GPU architecture `gfx90b`",
            ),
            ("max-image-bytes = -1", "-1"),
            ("exceptions = 1", "a list of tables"),
            (
                "[[exceptions]]\nptx = \"embed\"",
                "exception 1: it needs a text `path`",
            ),
            (
                "[[exceptions]]\npath = \"a\"\nreason = \" \"\nptx = \"embed\"",
                "it needs a text `reason`",
            ),
            (
                "[[exceptions]]\npath = \"a\"\nreason = \"b\"",
                "sets no rule",
            ),
            (
                "[[exceptions]]\npath = \"a[\"\nreason = \"b\"\nptx = \"embed\"",
                "`path = \"a[\"`",
            ),
            (
                "[[exceptions]]\npath = \"a\"\nreason = \"b\"\nrequire-kernel = [\"k\"]",
                "has no exceptions",
            ),
            ("{\"ptx\": }", "line 1"),
            ("ptx = \"forbid\"\nptx = \"embed\"", "duplicate key: `ptx`"),
            (
                "{\"ptx\": \"forbid\", \"ptx\": \"embed\"}",
                "duplicate key: `ptx` at line 1",
            ),
            (
                "{\"exceptions\": [{\"path\": \"a\", \"path\": \"b\"}]}",
                "duplicate key: `path`",
            ),
        ] {
            let error = Policy::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
