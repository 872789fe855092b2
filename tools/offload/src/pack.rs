//! `offload pack`: images and their PTX policy into one OffloadBinary file.

mod conflict;

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use offload_audit::files::Opened;
use offload_image::bytes::Bytes;
use offload_image::image::Kind;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::policy::PtxPolicy;
use offload_image::strong::strong_kernels;
use offload_image::target::Target;

use crate::cli::{ImageKind, PackArgs};
use crate::failure::{named, prefix, Complaint, Failure, Outcome};
use crate::files;
use crate::judge::{judge, Declared};
use crate::meta::Meta;
use crate::mixed::{self, Part};

/// One `--image`.
#[derive(Debug)]
struct Spec {
    kind: Kind,
    arch: Target,
    file: PathBuf,
    meta: Option<PathBuf>,
}

/// An image, read and checked.
struct Image {
    spec: Spec,
    data: Opened,
    meta: Meta,
    /// The kernels that no other image may have under the same name; sorted.
    strong: Vec<String>,
    /// The stricter of the pack's policy and its own.
    policy: PtxPolicy,
}

impl Image {
    /// Reads an image and checks it, against its metadata too where that is given.
    fn load(args: &PackArgs, spec: Spec) -> Result<Self, Failure> {
        let data = files::open(&spec.file)?;
        let declared = Declared {
            label: &args.label,
            path: &spec.file,
            kind: spec.kind,
            arch: &spec.arch,
            kernels: &[],
            ceilings: &[],
        };
        let subject = declared.subject();
        let content = judge(&declared, data.bytes())?;
        let strong = strong_kernels(Bytes::new(data.bytes()), &content)
            .map_err(|error| Failure::unreadable(format!("{subject}: {error}")))?;
        let mut meta = Meta::new(spec.kind, &spec.arch, &data, &content, None);
        if let Some(path) = &spec.meta {
            let checked = Meta::read(path)?;
            meta.policy = checked.policy;
            if meta != checked {
                let complaint = Complaint {
                    what: format!("{subject}: it is not the image that was checked"),
                    wanted: format!("{} {} {}", checked.kind, checked.arch, checked.sha256),
                    found: format!("{} {} {}", meta.kind, meta.arch, meta.sha256),
                    mend: format!("give the metadata of this image, not {}", path.display()),
                };
                return Err(failed(&[complaint]));
            }
        }
        let own = meta.policy.unwrap_or(args.policy);
        let Some(policy) = own.stricter(args.policy) else {
            let complaint = Complaint {
                what: format!("{subject}: no image can be under both policies"),
                wanted: format!("an image that was built under ptx = \"{}\"", args.policy),
                found: format!("one that was built under ptx = \"{own}\""),
                mend: format!(
                    "set the same `ptx` on {} and on the target of the image",
                    named(&args.label)
                ),
            };
            return Err(failed(&[complaint]));
        };
        Ok(Self {
            spec,
            data,
            meta,
            strong,
            policy,
        })
    }

    fn key(&self) -> ((usize, String), Kind) {
        (self.spec.arch.rank(), self.spec.kind)
    }

    /// What it is beside the others, under the policy of its own target.
    fn part(&self) -> Part {
        Part {
            from: self.spec.file.display().to_string(),
            kind: self.spec.kind,
            arch: self.meta.arch.clone(),
            policy: self.meta.policy,
        }
    }

    fn packed(&self) -> NewImage<'_> {
        let (image_kind, offload_kind) = match self.spec.kind {
            Kind::Cubin => (image_kind::CUBIN, offload_kind::CUDA),
            Kind::Ptx => (image_kind::PTX, offload_kind::CUDA),
            _ => (image_kind::OBJECT, offload_kind::HIP),
        };
        let mut strings = vec![
            ("triple", self.spec.arch.vendor().triple()),
            ("arch", self.meta.arch.as_str()),
            (PtxPolicy::KEY, self.policy.name()),
        ];
        let of_ptx = [
            ("ptx_isa", &self.meta.ptx_isa),
            ("min_driver", &self.meta.min_driver),
        ];
        strings.extend(
            of_ptx
                .into_iter()
                .filter_map(|(key, value)| Some((key, value.as_deref()?))),
        );
        NewImage {
            image_kind,
            offload_kind,
            strings,
            data: self.data.bytes(),
        }
    }
}

pub fn run(args: &PackArgs) -> Outcome {
    let mut specs = Vec::new();
    for text in &args.images {
        specs.push(Spec::parse(text)?);
    }
    let inputs = specs
        .iter()
        .flat_map(|spec| [Some(&spec.file), spec.meta.as_ref()]);
    files::apart(&args.output, inputs.flatten().map(PathBuf::as_path))?;
    let complaints = policy_complaints(args, &specs);
    if !complaints.is_empty() {
        return Err(failed(&complaints));
    }
    let mut images = Vec::new();
    for spec in specs {
        images.push(Image::load(args, spec)?);
    }
    let complaints = mixed::complaints(
        &args.label,
        &images.iter().map(Image::part).collect::<Vec<_>>(),
    );
    if !complaints.is_empty() {
        return Err(failed(&complaints));
    }
    // By content last, so that the order in which they were given does not show in the bytes.
    images.sort_by(|one, two| {
        one.key()
            .cmp(&two.key())
            .then_with(|| one.data.bytes().cmp(two.data.bytes()))
    });
    let mut complaints = duplicates(args, &images);
    complaints.extend(conflict::complaints(args, &images));
    if !complaints.is_empty() {
        return Err(failed(&complaints));
    }
    let packed: Vec<NewImage<'_>> = images.iter().map(Image::packed).collect();
    files::write(&args.output, |out: &mut dyn Write| {
        let from = images.iter().map(|image| &image.data).collect();
        offload_binary::write_to(&mut files::Passing { from, out }, &packed)
    })?;
    Ok(0)
}

fn policy_complaints(args: &PackArgs, specs: &[Spec]) -> Vec<Complaint> {
    let label = &args.label;
    let refused = |spec: &&Spec| !args.policy.admits(spec.kind);
    specs
        .iter()
        .filter(refused)
        .map(|spec| Complaint {
            what: format!(
                "{}ptx = \"{}\" does not allow this image: {}",
                prefix(label),
                args.policy,
                spec.file.display()
            ),
            wanted: match spec.kind {
                Kind::Ptx => "no PTX".to_owned(),
                _ => "PTX and no cubin".to_owned(),
            },
            found: format!("{} for {}", spec.kind, spec.arch),
            mend: format!(
                "set `ptx = \"embed\"` on {}, or take this image out",
                named(label)
            ),
        })
        .collect()
}

/// Two units may each have an image for an architecture; the same image twice is a mistake. The
/// images are sorted, so the same stand side by side.
fn duplicates(args: &PackArgs, images: &[Image]) -> Vec<Complaint> {
    images
        .windows(2)
        .filter_map(|pair| match pair {
            [one, two] if one.key() == two.key() && one.data.bytes() == two.data.bytes() => {
                Some(Complaint {
                    what: format!("{}the same image twice", prefix(&args.label)),
                    wanted: format!("one {} for {}", one.spec.kind, one.spec.arch),
                    found: format!(
                        "{} and {}",
                        one.spec.file.display(),
                        two.spec.file.display()
                    ),
                    mend: format!("take one of them out of {}", named(&args.label)),
                })
            }
            _ => None,
        })
        .collect()
}

fn failed(complaints: &[Complaint]) -> Failure {
    Failure::failed(complaints.iter().map(Complaint::to_string).collect())
}

impl Spec {
    /// Reads `kind=…,arch=…,file=…[,meta=…]`. A comma only ends a value if a known key follows,
    /// so that paths may have commas.
    fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!(
                "--image={text}: {why}; wanted kind=cubin|gfx|ptx,arch=ARCH,file=PATH[,meta=PATH]"
            ))
        };
        const KEYS: [&str; 4] = ["kind", "arch", "file", "meta"];
        let mut values: [Option<String>; 4] = Default::default();
        let mut current = None;
        for part in text.split(',') {
            let key = part
                .split_once('=')
                .and_then(|(key, value)| Some((KEYS.iter().position(|k| *k == key)?, value)));
            match (key, current) {
                (Some((index, value)), _) => {
                    if values[index].replace(value.to_owned()).is_some() {
                        return Err(wrong(&format!("{} is given twice", KEYS[index])));
                    }
                    current = Some(index);
                }
                (None, Some(index)) => {
                    let value = values[index].get_or_insert_with(String::new);
                    value.push(',');
                    value.push_str(part);
                }
                (None, None) => return Err(wrong(&format!("`{part}` is no known key"))),
            }
        }
        let [kind, arch, file, meta] = values;
        let kind = kind.ok_or_else(|| wrong("kind is missing"))?;
        let arch = arch.ok_or_else(|| wrong("arch is missing"))?;
        Ok(Self {
            kind: ImageKind::from_str(&kind, false)
                .map_err(|_| wrong(&format!("unknown kind `{kind}`")))?
                .kind(),
            arch: Target::parse(&arch).map_err(|error| wrong(&error.to_string()))?,
            file: file.ok_or_else(|| wrong("file is missing"))?.into(),
            meta: meta.map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs() {
        let spec = Spec::parse("kind=gfx,arch=gfx90a:xnack-,file=a,b=c.elf,meta=m").unwrap();
        assert_eq!(spec.kind, Kind::Gfx);
        assert_eq!(spec.arch.to_string(), "gfx90a:xnack-");
        assert_eq!(spec.file, PathBuf::from("a,b=c.elf"));
        assert_eq!(spec.meta, Some(PathBuf::from("m")));
        for bad in [
            "",
            "file=x",
            "kind=cubin,file=x",
            "kind=cubin,arch=sm_90",
            "kind=elf,arch=sm_90,file=x",
            "kind=cubin,arch=sm_91,file=x",
            "kind=cubin,arch=sm_90,file=x,file=y",
            "x,kind=cubin,arch=sm_90,file=x",
        ] {
            assert_eq!(Spec::parse(bad).unwrap_err().code(), 2, "{bad}");
        }
    }
}
