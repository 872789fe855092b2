//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use offload_audit::limits::Limits;
use offload_audit::scan::{Options, Unpack};
use offload_image::image::Kind;
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::{Driver, PtxIsa};
use offload_image::relocatable::Machine;
use offload_image::target::Target;

#[derive(Parser)]
#[command(
    name = "offload",
    version,
    about = "Checks, packs, links, lists, extracts, compares and verifies GPU device images",
    after_help = "An argument @FILE stands for the lines of FILE, one argument each.\n\
        Exit codes: 0 fine, 1 a check failed, the policy is breached, or there is a \
        difference, 2 wrong usage, 3 unreadable or malformed, 4 there is no device code."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check that one image is of the declared kind and architecture and exports its kernels
    Check(CheckArgs),
    /// Pack images and their PTX policy into one file
    Pack(PackArgs),
    /// Write the relocatable object that puts packed images into a host program
    Link(LinkArgs),
    /// List every device image in files
    Inspect(InspectArgs),
    /// Write every device image in files to a file of its own
    Extract(ExtractArgs),
    /// Tell which device images of two files or folders are not the same
    Diff(DiffArgs),
    /// Check files against a PTX policy and required architectures and kernels
    Verify(Box<VerifyArgs>),
    /// List the GPU architectures that are known
    Archs(ArchsArgs),
}

#[derive(Args)]
pub struct CheckArgs {
    /// The build target that errors name
    #[arg(long, default_value = "")]
    pub label: String,
    /// The declared architecture, such as sm_90a or gfx90a:xnack-
    #[arg(long, value_parser = target)]
    pub arch: Target,
    /// The declared kind
    #[arg(long)]
    pub kind: ImageKind,
    /// A kernel that has to be exported; may be given several times
    #[arg(long = "kernel", value_name = "NAME")]
    pub kernels: Vec<String>,
    /// What its target says about PTX: forbid, embed or only; goes with the image
    #[arg(long)]
    pub policy: Option<PtxPolicy>,
    /// The newest PTX that it may be, such as 8.0
    #[arg(long, value_name = "VERSION")]
    pub max_ptx_isa: Option<PtxIsa>,
    /// The oldest NVIDIA driver that has to compile it, if it is PTX, such as 535
    #[arg(long, value_name = "VERSION")]
    pub min_driver: Option<Driver>,
    /// Where to write what was found, as JSON
    #[arg(long, value_name = "META.json")]
    pub output: Option<PathBuf>,
    /// The image
    pub image: PathBuf,
}

#[derive(Args)]
pub struct PackArgs {
    /// The build target that errors name
    #[arg(long, default_value = "")]
    pub label: String,
    /// What the images say about PTX: forbid, embed or only
    #[arg(long)]
    pub policy: PtxPolicy,
    /// An image: kind=cubin|gfx|ptx,arch=ARCH,file=PATH[,meta=META.json]; may be given several times
    #[arg(long = "image", required = true, value_name = "KEYS")]
    pub images: Vec<String>,
    /// Where to write the packed images
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct LinkArgs {
    /// The build target that errors name
    #[arg(long, default_value = "")]
    pub label: String,
    /// Files that `pack` wrote; each becomes one record
    #[arg(long = "input", required = true, num_args = 1.., value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Where to write the object
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
    /// With more bytes of images than this, say what to do against it
    #[arg(long, value_name = "BYTES", default_value_t = 3 << 29)]
    pub warn_above: u64,
    /// The host that the program runs on
    #[arg(long, default_value = "x86_64")]
    pub machine: Host,
}

#[derive(Args)]
pub struct InspectArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// How to print: a table for people, or JSON
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Read the contents of every image, and print the names of all kernels
    #[arg(long)]
    pub kernels: bool,
    /// Read the contents of every image, and print their hashes; JSON has them in any case
    #[arg(long)]
    pub sha256: bool,
    /// The files to look into; of a folder, every file in it
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// What all commands that look into files have in common.
#[derive(Args)]
pub struct ReadArgs {
    /// How many bytes a compressed blob or a member of an archive may unpack to; by default 1 GiB for
    /// a blob and 8 GiB for a member
    #[arg(long, value_name = "BYTES")]
    pub max_unpacked_bytes: Option<u64>,
}

impl ReadArgs {
    /// Everything is read and hashed.
    pub fn contents(&self) -> Options {
        self.options(Unpack::Contents, true)
    }

    /// As [`ReadArgs::contents`], and whoever reads sees the bytes of the images.
    pub fn bytes(&self) -> Options {
        self.options(Unpack::Bytes, true)
    }

    /// As much is read as `unpack` says.
    pub fn options(&self, unpack: Unpack, sha256: bool) -> Options {
        let mut limits = Limits::default();
        if let Some(bytes) = self.max_unpacked_bytes {
            limits.max_unpacked = bytes;
            limits.max_member = bytes;
        }
        Options {
            limits,
            unpack,
            sha256,
        }
    }
}

#[derive(Args)]
pub struct ExtractArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// The folder to write to, which is made if it is not there; nothing in it is written over
    #[arg(long, value_name = "DIR")]
    pub output_dir: PathBuf,
    /// Only images of this kind; may be given several times
    #[arg(long = "kind", value_name = "KIND")]
    pub kinds: Vec<FoundKind>,
    /// Only images for this architecture; may be given several times
    #[arg(long = "arch", value_name = "ARCH", value_parser = crate::verify::parse_target)]
    pub archs: Vec<Target>,
    /// How to print what was written: a table for people, or JSON
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// The files to look into; of a folder, every file in it
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

#[derive(Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// How to print: a table for people, or JSON
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// The old file or folder
    #[arg(value_name = "A")]
    pub old: PathBuf,
    /// The new one
    #[arg(value_name = "B")]
    pub new: PathBuf,
}

#[derive(Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What is allowed: forbid, embed or only
    #[arg(long)]
    pub ptx: Option<PtxPolicy>,
    /// Who says so, where that is another than the build target that errors name
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub ptx_from: Option<String>,
    /// An architecture that every container has to have an image for, with all of its kernels; may
    /// be given several times
    #[arg(long = "require-arch", value_name = "ARCH", value_parser = target)]
    pub archs: Vec<Target>,
    /// A kernel that has to be there; may be given several times
    #[arg(long = "require-kernel", value_name = "NAME")]
    pub kernels: Vec<String>,
    /// A file whose images all have to be there, byte for byte; may be given several times
    #[arg(long = "require-images", value_name = "FILE")]
    pub images: Vec<PathBuf>,
    /// An architecture that no image may be for; may be given several times
    #[arg(long = "forbid-arch", value_name = "ARCH", value_parser = crate::verify::parse_target)]
    pub forbid_archs: Vec<Target>,
    /// A text that no image may have in it when unpacked, such as a build machine's path; may be
    /// given several times
    #[arg(long = "forbid-text", value_name = "TEXT")]
    pub forbid_texts: Vec<String>,
    /// How many bytes one image may take, as stored
    #[arg(long, value_name = "BYTES")]
    pub max_image_bytes: Option<u64>,
    /// How many bytes all images of a file may take, as stored
    #[arg(long, value_name = "BYTES")]
    pub max_total_bytes: Option<u64>,
    /// The newest PTX that may be there, such as 8.0
    #[arg(long, value_name = "VERSION")]
    pub max_ptx_isa: Option<PtxIsa>,
    /// The oldest NVIDIA driver that has to compile the PTX, such as 535
    #[arg(long, value_name = "VERSION")]
    pub min_driver: Option<Driver>,
    /// A file that the files were linked from, and its build target, which is told of images that came
    /// from it; may be given several times
    #[arg(long = "origin", num_args = 2, value_names = ["TARGET", "FILE"])]
    pub origins: Vec<String>,
    /// A build target among the origins whose images may breach rules, and why; may be given several
    /// times
    #[arg(long = "allow", num_args = 2, allow_hyphen_values = true, value_names = ["TARGET", "REASON"])]
    pub allowed: Vec<String>,
    /// A file that is verified beside the others, if it can hold code at all; may be given several times
    #[arg(long = "beside", value_name = "FILE")]
    pub beside: Vec<PathBuf>,
    /// A file of rules and exceptions, in TOML or JSON; what is given here as well stands in for its
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How to print: text, JSON, or JUnit's XML
    #[arg(long, default_value = "text")]
    pub format: VerifyFormat,
    /// The build target that errors name
    #[arg(long, default_value = "")]
    pub label: String,
    /// Where to write a short report, as JSON, if all is well
    #[arg(long, value_name = "STAMP")]
    pub output: Option<PathBuf>,
    /// The files to look into; of a folder, every file in it
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

#[derive(Args)]
pub struct ArchsArgs {
    /// How to print: a table for people, or JSON
    #[arg(long, default_value = "table")]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    Text,
    Json,
    Junit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ImageKind {
    Cubin,
    Gfx,
    Ptx,
}

impl ImageKind {
    pub fn kind(self) -> Kind {
        match self {
            Self::Cubin => Kind::Cubin,
            Self::Gfx => Kind::Gfx,
            Self::Ptx => Kind::Ptx,
        }
    }
}

/// The kinds that are found: more than those that can be packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FoundKind {
    Cubin,
    Gfx,
    Ptx,
    Bitcode,
    Spirv,
    Unknown,
}

impl FoundKind {
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Cubin => Self::Cubin,
            Kind::Gfx => Self::Gfx,
            Kind::Ptx => Self::Ptx,
            Kind::Bitcode => Self::Bitcode,
            Kind::Spirv => Self::Spirv,
            Kind::Unknown(_) => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Host {
    #[value(name = "x86_64")]
    X86_64,
    Aarch64,
}

impl Host {
    pub fn machine(self) -> Machine {
        match self {
            Self::X86_64 => Machine::X86_64,
            Self::Aarch64 => Machine::Aarch64,
        }
    }
}

fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).map_err(|error| error.to_string())
}
