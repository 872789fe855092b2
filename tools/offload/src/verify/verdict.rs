//! The outcome of a run, and how it is printed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Write};

use offload_audit::scan::State;
use offload_image::image::Kind;
use serde::Serialize;

use super::breach::{Breach, Rule};
use super::container;
use super::coverage::Asked;
use super::held::Wanted;
use super::image::{Found, Seen};
use super::origin::{self, Origins};
use super::policy::Policy;
use super::programs::Programs;
use super::rules::Rules;
use super::{conflict, junit, same, uneven};
use crate::cli::{VerifyArgs, VerifyFormat};
use crate::failure::{clean, list, named, prefix, Complaint};
use crate::gather::{File, Inputs};
use crate::report::{ImageReport, SCHEMA};
use crate::sizes;

/// The outcome; as JSON, what `verify --format=json` prints. `docs/verify.md` describes it.
#[derive(Serialize)]
pub struct Verdict {
    schema: u32,
    ok: bool,
    pub files: Vec<Verified>,
    pub breaches: Vec<Breach>,
    /// What could not be looked into at all, such as a path that is not there.
    pub faults: Vec<String>,
    /// The exceptions that some file or image came under.
    pub exceptions: Vec<Excepted>,
    /// What was not judged, and exceptions that nothing came under.
    pub notes: Vec<String>,
    /// Before every fault, for people.
    #[serde(skip)]
    prefix: String,
}

/// A file that was looked into.
#[derive(Serialize)]
pub struct Verified {
    pub path: String,
    pub state: &'static str,
    pub images: usize,
    pub ptx: usize,
    /// Of all images, as stored.
    pub bytes: u64,
    pub problems: Vec<String>,
}

/// A file or member that came under an exception.
#[derive(Serialize, PartialEq)]
pub struct Excepted {
    pub path: String,
    /// The pattern of the exception, or the build target that it is for.
    pub pattern: String,
    pub reason: String,
}

impl fmt::Display for Excepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, pattern) = (clean(&self.path), clean(&self.pattern));
        write!(f, "{path} ({pattern}): {}", clean(&self.reason))
    }
}

impl Verdict {
    pub fn new(
        args: &VerifyArgs,
        policy: &Policy,
        wanted: &Wanted,
        inputs: &Inputs,
        files: &[File<Seen>],
    ) -> Self {
        let mut verdict = Self {
            schema: SCHEMA,
            ok: false,
            files: Vec::new(),
            breaches: Vec::new(),
            faults: inputs.faults.clone(),
            exceptions: Vec::new(),
            notes: inputs.notes.clone(),
            prefix: prefix(&args.label),
        };
        let origins = Origins::new(args);
        // The rules of each image first: what was found points to them.
        let rules: Vec<Vec<Rules>> = files.iter().map(|f| verdict.rules(policy, f)).collect();
        let mut all = Vec::new();
        let programs: Vec<Programs> = files.iter().map(Programs::of).collect();
        for ((file, rules), programs) in files.iter().zip(&rules).zip(&programs) {
            let found = found(args, file, rules, programs);
            let mut turns = HashMap::new();
            for image in &found {
                let turn = turns.entry(image.seen.identity).or_default();
                verdict.judge(image, *turn, &origins);
                *turn += 1;
            }
            verdict
                .breaches
                .extend(too_large(args, policy, file, &found));
            verdict.notes.extend(notes(file, &found));
            verdict.files.push(Verified::new(file));
            all.extend(found);
        }
        let named = files_text(args);
        let lost = wanted.breaches(&args.label, &named, files);
        verdict.breaches.extend(lost);
        let asked = Asked {
            label: &args.label,
            rules: &policy.rules,
            files: named,
            origins: &origins,
        };
        let groups = container::groups(&all);
        let of_several = asked.breaches(&all, &groups).into_iter();
        for breach in of_several.chain(conflict::breaches(&all, &origins)) {
            verdict.keep(breach, &origins);
        }
        verdict.notes.extend(uneven::notes(&groups, &origins));
        verdict.notes.extend(same::notes(&groups, &origins));
        let patterns = policy.exceptions.iter().map(|e| e.path.as_str());
        for pattern in patterns.chain(origin::allowed(args).map(String::as_str)) {
            if !verdict
                .exceptions
                .iter()
                .any(|used| used.pattern == pattern)
            {
                verdict.notes.push(format!(
                    "the exception for `{pattern}` came into use nowhere"
                ));
            }
        }
        verdict.ok = verdict.breaches.is_empty() && verdict.fault_texts().is_empty();
        verdict
    }

    /// Keeps what one image breaches, which is the `turn`th of its bytes in its file.
    fn judge(&mut self, image: &Found<'_>, turn: usize, origins: &Origins<'_>) {
        let breaches = image.breaches();
        if breaches.is_empty() {
            return;
        }
        let source = origins.of(image, turn);
        for breach in breaches {
            self.keep(breach.from(&source), origins);
        }
    }

    /// Keeps a breach, unless the target that its images came from may.
    fn keep(&mut self, breach: Breach, origins: &Origins<'_>) {
        let target = breach.origin.as_deref();
        match target.and_then(|target| Some((target, origins.reason(target)?))) {
            Some((target, reason)) => self.except(Excepted {
                path: breach.path.clone().unwrap_or_default(),
                pattern: target.to_owned(),
                reason: reason.clone(),
            }),
            None => self.breaches.push(breach),
        }
    }

    fn except(&mut self, excepted: Excepted) {
        if !self.exceptions.contains(&excepted) {
            self.exceptions.push(excepted);
        }
    }

    /// The rules of each image of a file, and the exceptions among them noted.
    fn rules<E>(&mut self, policy: &Policy, file: &File<E>) -> Vec<Rules> {
        let path = file.path.display().to_string();
        if !file.images.is_empty() {
            // Those that are about all images of the file together.
            self.rules_noted(policy, &path);
        }
        let images = file.images.iter();
        images
            .map(|(image, _)| {
                let names = image.location.member.iter().map(String::as_str);
                let whole: Vec<&str> = std::iter::once(path.as_str()).chain(names).collect();
                self.rules_noted(policy, &whole.join("/"))
            })
            .collect()
    }

    fn rules_noted(&mut self, policy: &Policy, path: &str) -> Rules {
        let (rules, used) = policy.rules_for(path);
        for exception in used
            .iter()
            .filter_map(|index| policy.exceptions.get(*index))
        {
            self.except(Excepted {
                path: path.to_owned(),
                pattern: exception.path.as_str().to_owned(),
                reason: exception.reason.clone(),
            });
        }
        rules
    }

    /// Everything that could not be read.
    pub fn fault_texts(&self) -> Vec<String> {
        let of_files = self.files.iter().flat_map(|file| {
            let path = clean(&file.path);
            let text = move |problem: &String| format!("{}{path}: {problem}", self.prefix);
            file.problems.iter().map(text)
        });
        let of_inputs = self
            .faults
            .iter()
            .map(|text| format!("{}{text}", self.prefix));
        of_inputs.chain(of_files).collect()
    }

    /// Tells exceptions and notes.
    pub fn tell(&self, err: &mut dyn Write) -> io::Result<()> {
        let prefix = clean(&self.prefix);
        for used in &self.exceptions {
            writeln!(err, "offload: {prefix}exception for {used}")?;
        }
        for note in &self.notes {
            writeln!(err, "offload: {prefix}note: {}", clean(note))?;
        }
        Ok(())
    }

    /// Prints what programs read. Failures go to the error stream at the end.
    pub fn print(&self, args: &VerifyArgs, out: &mut dyn Write) -> io::Result<()> {
        match args.format {
            VerifyFormat::Text => Ok(()),
            VerifyFormat::Json => {
                serde_json::to_writer_pretty(&mut *out, self)?;
                writeln!(out)
            }
            VerifyFormat::Junit => junit::write(self, out),
        }
    }
}

impl Verified {
    fn new<E>(file: &File<E>) -> Self {
        let images = || file.images.iter().map(|(image, _)| image);
        Self {
            path: file.path.display().to_string(),
            state: file.state().name(),
            images: images().count(),
            ptx: images().filter(|image| image.kind == Kind::Ptx).count(),
            bytes: bytes(file),
            problems: file.faults.iter().map(|fault| fault.text.clone()).collect(),
        }
    }
}

fn found<'a>(
    args: &'a VerifyArgs,
    file: &'a File<Seen>,
    rules: &'a [Rules],
    programs: &'a Programs<'_>,
) -> Vec<Found<'a>> {
    let images = file.images.iter().zip(rules);
    images
        .map(|((image, seen), rules)| Found {
            label: &args.label,
            path: file.path.display().to_string(),
            report: ImageReport::new(image),
            image,
            rules,
            ptx_from: args.ptx_from.as_deref(),
            beside: programs.policies(image),
            seen,
        })
        .collect()
}

fn bytes<E>(file: &File<E>) -> u64 {
    let sizes = file.images.iter().map(|(image, _)| image.size);
    sizes.fold(0, u64::saturating_add)
}

fn too_large<E>(
    args: &VerifyArgs,
    policy: &Policy,
    file: &File<E>,
    found: &[Found<'_>],
) -> Option<Breach> {
    let path = file.path.display().to_string();
    let limit = policy.rules_for(&path).0.max_total_bytes?;
    let bytes = bytes(file);
    (bytes > limit).then(|| Breach {
        rule: Rule::MaxTotalBytes,
        complaint: Complaint {
            what: format!("{}the images in {path} are too large", prefix(&args.label)),
            wanted: format!("at most {} in all images of a file", sizes::bytes(limit)),
            found: format!("{} in {}", sizes::bytes(bytes), largest(found)),
            mend: format!(
                "name fewer GPUs in the `archs` of what {} packs, or family and generic ones, \
                 which serve several each; or raise its limit (max_size; max-total-bytes)",
                named(&args.label)
            ),
        },
        path: Some(path),
        image: None,
        origin: None,
    })
}

/// `2 images, the largest: …; …`
fn largest(found: &[Found<'_>]) -> String {
    const FEW: usize = 3;
    let mut by_size: Vec<&Found<'_>> = found.iter().collect();
    // What is as large stays in its order.
    by_size.sort_by_key(|image| Reverse(image.report.size));
    let texts: Vec<String> = by_size.iter().take(FEW).map(|i| i.describe()).collect();
    let texts = texts.join("; ");
    match found.len() {
        1 => format!("1 image: {texts}"),
        count => format!("{count} images, the largest: {texts}"),
    }
}

/// What is no breach and must not go unsaid either.
fn notes<E>(file: &File<E>, found: &[Found<'_>]) -> Vec<String> {
    let mut unjudged: BTreeMap<String, usize> = BTreeMap::new();
    for image in found {
        if !matches!(image.image.kind, Kind::Cubin | Kind::Gfx | Kind::Ptx) {
            let name = format!("{} for {}", image.image.kind, image.arch());
            *unjudged.entry(name).or_default() += 1;
        }
    }
    let path = file.path.display();
    let without_policy = found.iter().filter(|f| f.lacks_policy()).count();
    let mut notes: Vec<String> = unjudged
        .into_iter()
        .map(|(name, count)| match count {
            1 => format!("{name} in {path} is not judged"),
            _ => format!("{name} in {path} is not judged ({count} images)"),
        })
        .collect();
    if without_policy > 0 {
        notes.push(format!(
            "{path} has images that were packed without a policy ({without_policy}): what they may be \
             mixed with is not known"
        ));
    }
    for member in &file.members {
        if let State::Elsewhere(reasons) = &member.state {
            let names: String = member
                .path
                .iter()
                .map(|m| format!("{}: ", clean(m)))
                .collect();
            notes.push(format!(
                "{path}: {names}GPU code in another place is not judged: {}",
                list(reasons, 5)
            ));
        }
    }
    notes
}

fn files_text(args: &VerifyArgs) -> String {
    let paths = args.files.iter();
    let names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    list(&names, 5)
}
