//! The files that a command is given, and those in its folders, read side by side.

use std::path::{Path, PathBuf};

use offload_audit::files::{self, Found};
use offload_audit::image::Image;
use offload_audit::scan::{Member, Options, Problem, Sink, State};
use rayon::prelude::*;

use crate::failure::clean;

/// A file to read.
pub struct Input {
    pub path: PathBuf,
    /// Whether it was given by its name: then it has to be a file that can hold code. In a folder
    /// there are others too.
    pub named: bool,
}

/// The files to read, and what has to be said of the rest.
#[derive(Default)]
pub struct Inputs {
    pub files: Vec<Input>,
    /// What could not be looked into.
    pub faults: Vec<String>,
    /// Links that are not followed.
    pub notes: Vec<String>,
}

impl Inputs {
    /// Files are taken as they are, folders by what is in them.
    pub fn list(paths: &[PathBuf]) -> Self {
        let mut inputs = Self::default();
        for path in paths {
            match files::list(path) {
                Ok(found) => found.into_iter().for_each(|found| inputs.add(path, found)),
                Err(error) => inputs
                    .faults
                    .push(format!("{}: cannot read it: {error}", path.display())),
            }
        }
        inputs
    }

    /// These and others, which need not be files that can hold code.
    #[must_use]
    pub fn beside(mut self, paths: &[PathBuf]) -> Self {
        let others = Self::list(paths);
        let unnamed = |input| Input {
            named: false,
            ..input
        };
        self.files.extend(others.files.into_iter().map(unnamed));
        self.faults.extend(others.faults);
        self.notes.extend(others.notes);
        self
    }

    fn add(&mut self, given: &Path, found: Found) {
        match found {
            Found::File(path) => self.files.push(Input {
                named: path == given,
                path,
            }),
            Found::Link {
                path,
                target,
                outside: true,
            } => self.notes.push(format!(
                "{}: a link to {}, outside of the folder or gone, is not followed",
                path.display(),
                target.display()
            )),
            Found::Link { .. } => {}
            Found::Fault { path, why } => self
                .faults
                .push(format!("{}: cannot read it: {why}", path.display())),
        }
    }

    /// Reads every file, several at a time. `look` sees each image with its unpacked bytes, where
    /// there are any, and what it makes of them is kept beside the image.
    pub fn read<E: Send>(
        &self,
        options: &Options,
        look: impl Fn(&Image, Option<&[u8]>) -> E + Sync,
    ) -> Vec<File<E>> {
        self.read_paths(options, |_, image, bytes| look(image, bytes))
    }

    /// As [`Inputs::read`]; `look` is told the file as well.
    pub fn read_paths<E: Send>(
        &self,
        options: &Options,
        look: impl Fn(&Path, &Image, Option<&[u8]>) -> E + Sync,
    ) -> Vec<File<E>> {
        let read = |input: &Input| {
            let mut sink = Collect {
                file: File::new(&input.path),
                look: |image: &Image, bytes: Option<&[u8]>| look(&input.path, image, bytes),
            };
            let opened = files::scan_file(&input.path, options, &mut sink);
            let mut file = sink.file;
            if let Err(error) = opened {
                file.faults
                    .push(Fault::text(format!("cannot read it: {error}")));
            } else if input.named && *file.state() == State::NotBinary {
                let text = "unknown format at byte 0x0: it is no kind of file that holds code";
                file.faults.push(Fault {
                    offset: Some(0),
                    ..Fault::text(text.to_owned())
                });
            }
            file.images.sort_by(|a, b| a.0.location.cmp(&b.0.location));
            file
        };
        match &self.files[..] {
            // Threads would take longer to start than most single files to read.
            [one] => vec![read(one)],
            many => many.par_iter().map(read).collect(),
        }
    }
}

/// A file that was read.
pub struct File<E> {
    pub path: PathBuf,
    /// By member and offset.
    pub images: Vec<(Image, E)>,
    /// Where there are any, there may be more images than are listed.
    pub faults: Vec<Fault>,
    /// The members of archives, and the file itself as the last.
    pub members: Vec<Member>,
}

/// Something that could not be read.
pub struct Fault {
    pub member: Vec<String>,
    /// Where, in the member or in what a blob in it unpacked to.
    pub offset: Option<u64>,
    pub unpacked_from: Option<u64>,
    /// What is wrong, with all of that.
    pub text: String,
}

impl Fault {
    fn text(text: String) -> Self {
        Self {
            member: Vec::new(),
            offset: None,
            unpacked_from: None,
            text,
        }
    }
}

impl<E> File<E> {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            images: Vec::new(),
            faults: Vec::new(),
            members: Vec::new(),
        }
    }

    /// What the file as a whole holds.
    pub fn state(&self) -> &State {
        self.members
            .last()
            .map_or(&State::Unreadable, |whole| &whole.state)
    }

    /// Every fault, with the file's name before it.
    pub fn fault_texts(&self) -> impl Iterator<Item = String> + '_ {
        let path = clean(&self.path.display().to_string());
        self.faults
            .iter()
            .map(move |fault| format!("{path}: {}", fault.text))
    }
}

struct Collect<E, L> {
    file: File<E>,
    look: L,
}

impl<E, L: Fn(&Image, Option<&[u8]>) -> E> Sink for Collect<E, L> {
    fn image(&mut self, image: Image, bytes: Option<&[u8]>) {
        let seen = (self.look)(&image, bytes);
        self.file.images.push((image, seen));
    }

    fn problem(&mut self, problem: Problem) {
        self.file.faults.push(Fault {
            text: problem.to_string(),
            offset: Some(problem.error.offset()),
            unpacked_from: problem.unpacked_from,
            member: problem.member,
        });
    }

    fn member(&mut self, member: Member) {
        self.file.members.push(member);
    }
}
