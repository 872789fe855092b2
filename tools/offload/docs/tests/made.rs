//! The pages and completions against the command line that they are made of: each command and flag
//! is in them, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Names = BTreeSet<String>;

/// What was made. Bazel names the folder that its target holds; Cargo names the program, which is
/// then run here.
struct Made {
    folder: PathBuf,
    _room: tempfile::TempDir,
}

impl Made {
    fn new(what: &str) -> Self {
        let room = tempfile::tempdir().unwrap();
        if let Some(built) = std::env::var_os(format!("MADE_{what}")) {
            let folder = PathBuf::from(built);
            return Self {
                folder,
                _room: room,
            };
        }
        let Some(program) = option_env!("CARGO_BIN_EXE_offload_docs") else {
            panic!("neither MADE_{what} nor the program is known");
        };
        let folder = room.path().join("made");
        let ran = Command::new(program).arg(what).arg(&folder).status();
        assert!(ran.unwrap().success());
        Self {
            folder,
            _room: room,
        }
    }

    fn names(&self, below: &str) -> Names {
        let found = fs::read_dir(self.folder.join(below)).unwrap();
        found
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }
}

fn names<'a>(some: impl IntoIterator<Item = &'a str>) -> Names {
    some.into_iter().map(str::to_owned).collect()
}

fn tool() -> clap::Command {
    let mut tool = offload_cli::command().disable_help_subcommand(true);
    tool.build();
    tool
}

fn long_flags(command: &clap::Command) -> Names {
    names(command.get_arguments().filter_map(|arg| arg.get_long()))
}

/// The long flags of each command.
fn wanted() -> BTreeMap<String, Names> {
    let tool = tool();
    let commands = tool.get_subcommands();
    let wanted: BTreeMap<String, Names> = commands
        .map(|command| (command.get_name().to_owned(), long_flags(command)))
        .collect();
    // That it was looked at the right way.
    assert!(wanted["extract"].contains("output-dir") && wanted["diff"].contains("format"));
    wanted
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let after = text.split_once(start).expect(start).1;
    after.split_once(end).expect(end).0
}

/// `name` of each `--name` that follows one of these.
fn after(text: &str, starts: &[&str]) -> Names {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let mut found = Names::new();
    for start in starts {
        let start = format!("{start}--");
        let rests = text.split(&start).skip(1);
        found.extend(rests.map(|rest| rest.split(ends).next().unwrap_or_default().to_owned()));
    }
    found
}

/// Without the escapes of the page's language.
fn plain(page: &str) -> String {
    page.replace("\\-", "-")
        .replace("\\*(Aq", "'")
        .replace("\\fB", "")
        .replace("\\fI", "")
        .replace("\\fR", "")
}

/// The flags that a page explains: a line of their own after `.TP`.
fn flags_of_page(page: &str) -> Names {
    let items = page.split(".TP\n").skip(1);
    let heads = items.filter_map(|item| item.lines().next());
    let heads: String = heads.map(|head| format!(" {head}")).collect();
    after(&heads, &[" "])
}

#[test]
fn pages() {
    let made = Made::new("man");
    let wanted = wanted();
    let mut files: Names = wanted.keys().map(|c| format!("offload-{c}.1")).collect();
    files.insert("offload.1".to_owned());
    assert_eq!(made.names("man1"), files);
    let root = plain(&made.read("man1/offload.1"));
    let listed: Names = root
        .lines()
        .filter_map(|line| line.strip_prefix("offload-")?.strip_suffix("(1)"))
        .map(str::to_owned)
        .collect();
    assert_eq!(listed, wanted.keys().cloned().collect());
    assert_eq!(flags_of_page(&root), names(["help", "version"]));
    assert!(root.contains("Exit codes: 0 fine"), "{root}");
    let version = format!("\"offload {}\"", tool().get_version().unwrap());
    // What it is where the build does not say.
    assert!(!version.contains("0.0.0"), "{version}");
    for command in tool().get_subcommands() {
        let name = command.get_name();
        let page = plain(&made.read(&format!("man1/offload-{name}.1")));
        assert_eq!(flags_of_page(&page), wanted[name], "{name}");
        assert!(page.contains(&version), "{page}");
        let about = command.get_about().unwrap().to_string();
        let helps = command
            .get_arguments()
            .map(|arg| arg.get_help().unwrap().to_string());
        for text in helps.chain([about]) {
            assert!(page.contains(&text), "no {text:?} in {page}");
        }
    }
}

/// The commands and flags that a script has against those of the tool. `help` is clap's own.
fn check(listed: Names, root: Names, flags: impl Fn(&str) -> Names) {
    let wanted = wanted();
    let mut commands: Names = wanted.keys().cloned().collect();
    commands.insert("help".to_owned());
    assert_eq!(listed, commands);
    assert_eq!(root, names(["help", "version"]));
    for (command, wanted) in &wanted {
        assert_eq!(flags(command), *wanted, "{command}");
    }
}

#[test]
fn three_shells() {
    let made = Made::new("completions");
    assert_eq!(
        made.names(""),
        names(["offload.bash", "_offload", "offload.fish"])
    );
}

#[test]
fn bash() {
    let made = Made::new("completions");
    let script = made.read("offload.bash");
    let options = |case: &str| {
        between(
            &script,
            &format!("\n        {case})\n            opts=\""),
            "\"",
        )
    };
    let root = options("offload");
    check(
        names(root.split(' ').filter(|word| !word.starts_with('-'))),
        after(root, &[" "]),
        |command| after(options(&format!("offload__{command}")), &[" "]),
    );
}

#[test]
fn zsh() {
    let made = Made::new("completions");
    let script = made.read("_offload");
    let starts = ["'", "'*"];
    let list = between(&script, "_offload_commands() {", "    )\n");
    check(
        names(
            list.lines()
                .filter_map(|line| Some(line.strip_prefix('\'')?.split_once(':')?.0)),
        ),
        after(between(&script, "_arguments", "&& ret=0"), &starts),
        |command| {
            after(
                between(&script, &format!("({command})\n_arguments"), "&& ret=0"),
                &starts,
            )
        },
    );
}

#[test]
fn fish() {
    let made = Made::new("completions");
    let script = made.read("offload.fish");
    let lines = |condition: &str| -> Vec<String> {
        let start = format!("complete -c offload -n \"{condition}\" ");
        let lines = script.lines();
        lines
            .filter_map(|l| Some(l.strip_prefix(&start)?.to_owned()))
            .collect()
    };
    let flags = |condition: &str| -> Names {
        let lines = lines(condition);
        let word = |line: &String| Some(line.split_once("-l ")?.1.split(' ').next()?.to_owned());
        lines.iter().filter_map(word).collect()
    };
    let listed = lines("__fish_offload_needs_command");
    let listed = listed
        .iter()
        .filter_map(|l| Some(l.split_once("-a \"")?.1.split_once('"')?.0));
    check(
        names(listed),
        flags("__fish_offload_needs_command"),
        |command| flags(&format!("__fish_offload_using_subcommand {command}")),
    );
}

/// What bash itself offers for a line.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let made = Made::new("completions");
    let script = Path::new(&made.folder).join("offload.bash");
    let offers = |words: &[&str]| -> String {
        let program = r#"
            source "$1"; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _offload offload "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            echo "${COMPREPLY[*]}"
        "#;
        let mut bash = Command::new("bash");
        bash.args(["-c", program, "bash"]).arg(&script).args(words);
        let ran = bash.output().unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()
    };
    assert_eq!(offers(&["offload", "ext"]), "extract");
    assert_eq!(offers(&["offload", "extract", "--out"]), "--output-dir");
    assert_eq!(offers(&["offload", "extract", "--kind", "bit"]), "bitcode");
    assert_eq!(offers(&["offload", "diff", "--output"]), "");
}
