//! The readers of `tools/audit`: decompressors, and files around GPU code.

use offload_audit::image::Image;
use offload_audit::limits::Limits;
use offload_audit::scan::{self, Member, Options, Problem, Scan, Sink, State, Unpack};
use offload_audit::unpack::{unpack as unpack_all, unpack_head, unpack_start};
use offload_image::bytes::Bytes;
use offload_image::image::Compression;

use crate::check;
use crate::take::Take;

pub const LIMITS: Limits = Limits {
    max_unpacked: 1 << 16,
    max_member: 1 << 16,
    max_total: 1 << 18,
    max_depth: 6,
};

/// The texts of a scan may be so many times larger than what was read, and not the product of its
/// parts: whoever wants to be told of every image within one long name has to write it for each.
const TIMES: usize = 100;
const SOME: usize = 1 << 16;

/// The packed bytes first, so that files of a format are inputs of this; what is asked for stands in
/// the last five bytes.
pub fn unpack(data: &[u8]) {
    let (packed, asked) = data.split_at(data.len().saturating_sub(5));
    let mut take = Take::new(asked);
    let compression = take.one_of(&[Compression::Zstd, Compression::Zlib, Compression::Lz4]);
    let (size, wanted) = (u64::from(take.u16()), u64::from(take.u16()));
    let limit = 1 << 15;
    let of = Bytes::new(packed);
    check::fault(packed, |b| unpack_all(compression, b, size, limit).err());
    check::fault(packed, |b| unpack_start(compression, b, None, limit).err());
    if let Ok(start) = unpack_start(compression, of, None, limit) {
        assert!(start.bytes.len() as u64 <= limit);
        assert!(start.taken > 0 && start.taken <= packed.len() as u64);
        let length = start.bytes.len() as u64;
        let taken = of.slice(0, start.taken, "what was taken");
        let alone = taken.and_then(|taken| unpack_all(compression, taken, length, limit));
        assert_eq!(alone.as_ref(), Ok(&start.bytes));
    }
    let Ok(whole) = unpack_all(compression, of, size, limit) else {
        return;
    };
    assert_eq!(whole.len() as u64, size);
    let head = unpack_head(compression, of, size, limit, wanted).expect("a head of it");
    assert!(whole.starts_with(&head));
    assert!(head.len() as u64 >= wanted.min(size), "a head too short");
}

pub fn ar(data: &[u8]) {
    starting_with(data, &[b"!<arch>\n", b"!<thin>\n"]);
}

pub fn coff(data: &[u8]) {
    starting_with(
        data,
        &[b"\x64\x86", b"\x4c\x01", b"\x64\xaa", b"\0\0\xff\xff"],
    );
}

pub fn pe(data: &[u8]) {
    starting_with(data, &[b"MZ"]);
}

pub fn macho(data: &[u8]) {
    let magics: [&[u8]; 5] = [
        b"\xcf\xfa\xed\xfe",
        b"\xce\xfa\xed\xfe",
        b"\xfe\xed\xfa\xce",
        b"\xfe\xed\xfa\xcf",
        b"\xca\xfe\xba\xbe",
    ];
    starting_with(data, &magics);
}

pub fn zip(data: &[u8]) {
    starting_with(data, &[b"PK\x03\x04", b"PK\x05\x06"]);
}

/// How much of images may be read.
pub const MODES: [Unpack; 4] = [
    Unpack::Bytes,
    Unpack::Contents,
    Unpack::Kinds,
    Unpack::Labels,
];

/// Any file; the last byte says how it is looked at.
pub fn scan(data: &[u8]) {
    let how = data.last().copied().unwrap_or(0);
    let mut options = options(MODES[usize::from(how) % MODES.len()]);
    options.limits.max_depth = u32::from(how >> 4);
    options.limits.max_total = LIMITS.max_total >> (how & 0xf);
    scanned(data, &options);
}

/// The bytes with one of these at their start.
fn starting_with(data: &[u8], magics: &[&[u8]]) {
    let options = options(Unpack::Bytes);
    if magics.iter().any(|magic| data.starts_with(magic)) {
        scanned(data, &options);
        return;
    }
    let which = usize::from(data.first().copied().unwrap_or(0));
    let magic = magics[which % magics.len()];
    let rest = data.get(magic.len()..).unwrap_or_default();
    scanned(&[magic, rest].concat(), &options);
}

pub fn options(unpack: Unpack) -> Options {
    Options {
        limits: LIMITS,
        unpack,
        sha256: false,
    }
}

/// Scans bytes, and holds what is told against the bytes and the limits.
pub fn scanned(data: &[u8], options: &Options) -> Scan {
    let mut seen = Seen {
        file: data,
        options,
        found: Scan::default(),
        plain: 0,
        unpacked: 0,
    };
    scan::scan_into(data, None, options, &mut seen);
    let Seen {
        found,
        plain,
        unpacked,
        ..
    } = seen;
    let whole = found.members.last().expect("the file itself");
    assert!(whole.path.is_empty());
    assert_eq!(whole.images, found.images.len());
    assert_eq!(whole.problems, found.problems.len());
    assert!(unpacked <= options.limits.max_total, "{unpacked} bytes");
    // Host files of overlapping sections may show some bytes twice, at each level.
    let levels = u64::from(options.limits.max_depth) + 2;
    let most = 2 * levels * (data.len() as u64 + unpacked);
    assert!(plain <= most, "{plain} bytes told of {}", data.len());
    let packed = found
        .images
        .iter()
        .any(|i| i.location.inner_offset.is_some())
        || found.members.iter().any(|member| member.format == "zip");
    let unpacked = if packed { options.limits.max_total } else { 0 };
    let most = SOME + TIMES * (data.len() + unpacked as usize);
    assert!(weight(&found) <= most, "texts of {} bytes", weight(&found));
    assert_eq!(whole.state == State::Images, !found.images.is_empty());
    let clean = matches!(whole.state, State::NoGpuCode | State::Elsewhere(_));
    assert!(!clean || found.problems.is_empty());

    let mut again = scan::scan_with(data, options);
    if *again.state() == State::NotBinary {
        again.problems.pop();
    }
    let mut found = found;
    found.images.sort_by(|a, b| a.location.cmp(&b.location));
    assert_eq!(found, again, "two scans differ");
    found
}

struct Seen<'a> {
    file: &'a [u8],
    options: &'a Options,
    found: Scan,
    /// Bytes of images that stand in the file as they are.
    plain: u64,
    /// Bytes of images that were unpacked.
    unpacked: u64,
}

impl Sink for Seen<'_> {
    fn image(&mut self, image: Image, bytes: Option<&[u8]>) {
        let at = &image.location;
        let of_file = at.member.is_empty();
        if of_file {
            assert!(at.offset <= self.file.len() as u64);
            // Where one compressed blob holds several, all of them start where that does.
            assert!(at.container_offset.is_none_or(|start| start <= at.offset));
            // Each has a record of 16 bytes.
            assert!(at
                .pack
                .is_none_or(|pack| pack < self.file.len() as u64 / 16));
        }
        match (bytes, at.inner_offset) {
            (None, Some(_)) if self.options.unpack == Unpack::Contents => {}
            (None, _) => assert!(image.content.is_none() && image.sha256.is_none()),
            (Some(bytes), Some(_)) => {
                assert!(bytes.len() as u64 <= self.options.limits.max_unpacked);
                self.unpacked += bytes.len() as u64;
            }
            (Some(bytes), None) => {
                assert_eq!(image.size, bytes.len() as u64);
                self.plain += image.size;
                if of_file {
                    let there = Bytes::new(self.file).slice(at.offset, image.size, "image");
                    assert_eq!(there.map(|there| there.data().as_ptr()), Ok(bytes.as_ptr()));
                }
            }
        }
        if let Some(bytes) = bytes {
            assert_eq!(image.unpacked_size, bytes.len() as u64);
        }
        self.found.images.push(image);
    }

    fn problem(&mut self, problem: Problem) {
        let length = self.file.len() as u64;
        if problem.member.is_empty() {
            match problem.unpacked_from {
                None => check::place(&problem.error, length),
                Some(start) => assert!(start <= length),
            }
        }
        self.found.problem(problem);
    }

    fn member(&mut self, member: Member) {
        self.found.member(member);
    }
}

/// How many bytes the texts take.
fn weight(scan: &Scan) -> usize {
    let names = |names: &[String]| names.iter().map(String::len).sum::<usize>();
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let images = scan.images.iter().map(|image| {
        names(&image.location.member)
            + image.location.container.len()
            + text(&image.location.section)
            + text(&image.label.arch)
            + text(&image.label.policy)
            + image.kernels().map_or(0, names)
    });
    let problems = scan.problems.iter().map(|p| p.to_string().len());
    let members = scan.members.iter().map(|member| {
        names(&member.path)
            + match &member.state {
                State::Elsewhere(reasons) => names(reasons),
                _ => 0,
            }
    });
    images.chain(problems).chain(members).sum()
}
