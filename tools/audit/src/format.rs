//! What bytes are, by how they start.

use offload_image::bytes::Bytes;
use offload_image::{bundle, ccob, elf, fatbin, offload_binary, ptx};

/// A format that is told apart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    OffloadBinary,
    Fatbin,
    Bundle,
    Ccob,
    Elf,
    Pe,
    MachO,
    Ar,
    Zip,
    Ptx,
    Bitcode,
    Spirv,
    /// Something that holds other files, packed in a way that is not read.
    Packed(&'static str),
    Unknown,
}

impl Format {
    pub fn of(bytes: Bytes<'_>) -> Self {
        const MAGICS: &[(&[u8], Format)] = &[
            (offload_binary::MAGIC, Format::OffloadBinary),
            (fatbin::MAGIC, Format::Fatbin),
            (bundle::MAGIC, Format::Bundle),
            (ccob::MAGIC, Format::Ccob),
            (elf::MAGIC, Format::Elf),
            (b"!<arch>\n", Format::Ar),
            (b"!<thin>\n", Format::Ar),
            (b"PK\x03\x04", Format::Zip),
            (b"PK\x05\x06", Format::Zip),
            (b"MZ", Format::Pe),
            (b"\xfe\xed\xfa\xce", Format::MachO),
            (b"\xfe\xed\xfa\xcf", Format::MachO),
            (b"\xce\xfa\xed\xfe", Format::MachO),
            (b"\xcf\xfa\xed\xfe", Format::MachO),
            (b"BC\xc0\xde", Format::Bitcode),
            (b"\x03\x02\x23\x07", Format::Spirv),
            (b"\x1f\x8b\x08", Format::Packed("gzip")),
            (b"BZh", Format::Packed("bzip2")),
            (b"\xfd7zXZ\0", Format::Packed("xz")),
            (crate::unpack::ZSTD_MAGIC, Format::Packed("zstd")),
            (b"7z\xbc\xaf\x27\x1c", Format::Packed("7z")),
            (b"\x04\x22\x4d\x18", Format::Packed("lz4")),
            (b"LZIP\x01", Format::Packed("lzip")),
            (b"\x1f\x9d", Format::Packed("compress")),
            (b"\x89LZO\0", Format::Packed("lzop")),
            (b"Rar!\x1a\x07", Format::Packed("rar")),
            (b"MSCF\0\0\0\0", Format::Packed("cab")),
            (b"\xed\xab\xee\xdb", Format::Packed("rpm")),
            (b"hsqs", Format::Packed("squashfs")),
        ];
        let data = bytes.data();
        if let Some((_, format)) = MAGICS.iter().find(|(magic, _)| data.starts_with(magic)) {
            return *format;
        }
        // Java's class files start with the same four bytes, and go on with a version above 40
        // where Mach-O counts its architectures.
        if data.starts_with(b"\xca\xfe\xba\xbe")
            && data.get(4..8).is_some_and(|n| n < &[0, 0, 0, 40])
        {
            return Self::MachO;
        }
        // A skippable frame, in which some tools keep an index.
        if matches!(data, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) {
            return Self::Packed("zstd");
        }
        // Its first five bytes are settings; eight more are its size, or that this is not known.
        if data.starts_with(b"\x5d\0\0") && data.get(5..13) == Some(&[0xff; 8]) {
            return Self::Packed("lzma");
        }
        if data.get(257..262) == Some(b"ustar") {
            return Self::Packed("tar");
        }
        if ptx::is_ptx(data) {
            return Self::Ptx;
        }
        Self::Unknown
    }

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::OffloadBinary => "offload_binary",
            Self::Fatbin => "fatbin",
            Self::Bundle => "bundle",
            Self::Ccob => "ccob",
            Self::Elf => "elf",
            Self::Pe => "pe",
            Self::MachO => "macho",
            Self::Ar => "ar",
            Self::Zip => "zip",
            Self::Ptx => "ptx",
            Self::Bitcode => "bitcode",
            Self::Spirv => "spirv",
            Self::Packed(name) => name,
            Self::Unknown => "unknown",
        }
    }
}
