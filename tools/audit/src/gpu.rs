//! Walks the containers that are made for GPU code.
//!
//! Where several stand in a row and one is broken, those before it have been told already: the
//! error comes with how far the reading got, and the bytes from there on are swept.

use std::result::Result as StdResult;

use offload_image::bundle::{self, Bundle};
use offload_image::bytes::Bytes;
use offload_image::image::{Compression, Kind};
use offload_image::offload_binary::{image_kind, OffloadBinary, Packed as PackedBinary, ALIGN};
use offload_image::policy::PtxPolicy;
use offload_image::{ccob, Error, Result};

use crate::format::Format;
use crate::image::Label;
use crate::packs::Packs;
use crate::place::{Packed, Place};
use crate::unpack;
use crate::walker::Walker;

/// A fault among containers in a row.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// How many bytes were read before it.
    pub at: u64,
    pub error: Error,
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        stopped.error
    }
}

/// Reads containers one after another with zeros between: `read` gives the length of the one at the
/// start of the bytes it gets.
pub(crate) fn in_a_row<'a>(
    bytes: Bytes<'a>,
    mut read: impl FnMut(Bytes<'a>) -> Result<u64>,
) -> StdResult<(), Stopped> {
    let mut at = 0;
    loop {
        let rest = bytes.tail(at).data();
        let Some(zeros) = rest.iter().position(|byte| *byte != 0) else {
            return Ok(());
        };
        at = at.saturating_add(zeros as u64);
        match read(bytes.tail(at)) {
            Ok(length) => at = at.saturating_add(length.max(1)),
            Err(error) => return Err(Stopped { at, error }),
        }
    }
}

impl Walker<'_> {
    pub fn offload_binaries(
        &mut self,
        bytes: Bytes<'_>,
        packs: &Packs,
        place: &Place,
    ) -> StdResult<(), Stopped> {
        let mut here = place.clone();
        in_a_row(bytes, |rest| {
            if (rest.base() - bytes.base()) % ALIGN != 0 {
                let why = format!("it is not at a multiple of {ALIGN}");
                return Err(Error::malformed("OffloadBinary", rest.base(), why));
            }
            here.pack = packs.of(rest.base());
            self.offload_binary(rest, &here)
        })
    }

    /// Walks the binary at the start of the bytes, packed or not, and gives its length.
    pub fn offload_binary(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<u64> {
        let Some(packed) = PackedBinary::parse(bytes)? else {
            let binary = OffloadBinary::parse(bytes)?;
            self.offload_entries(&binary, place);
            return Ok(binary.length);
        };
        let compression = match packed.body.data().starts_with(unpack::ZSTD_MAGIC) {
            true => Compression::Zstd,
            false => Compression::Zlib,
        };
        let inner = place.unpacked(Packed {
            offset: bytes.base(),
            size: None,
            compression,
        });
        let size = packed.unpacked_size;
        self.unpacked(compression, packed.body, size, |walker, body| {
            let whole = packed.restore(body);
            match OffloadBinary::parse(Bytes::new(&whole)) {
                Ok(binary) => walker.offload_entries(&binary, &inner),
                Err(error) => walker.problem(error, &inner),
            }
        })?;
        Ok(packed.length)
    }

    fn offload_entries(&mut self, binary: &OffloadBinary<'_>, place: &Place) {
        for entry in &binary.entries {
            let Some(image) = entry.image else { continue };
            let mut inner = place.inside_gpu("offload_binary", binary.offset);
            let arch = entry.get("arch").filter(|arch| !arch.is_empty());
            inner.label = Label {
                arch: arch.map(str::to_owned),
                ptx_isa: None,
                policy: entry.get(PtxPolicy::KEY).map(str::to_owned),
            };
            inner.kind = Some(match entry.image_kind {
                image_kind::CUBIN => Kind::Cubin,
                image_kind::PTX => Kind::Ptx,
                image_kind::BITCODE => Kind::Bitcode,
                image_kind::SPIRV => Kind::Spirv,
                other => Kind::Unknown(other),
            });
            let walked = self.any(image, &inner);
            self.settle(walked, image, &inner);
        }
    }

    /// Bundles in a row, compressed ones among them.
    pub fn bundles(&mut self, bytes: Bytes<'_>, place: &Place) -> StdResult<(), Stopped> {
        in_a_row(bytes, |rest| {
            if rest.data().starts_with(ccob::MAGIC) {
                self.compressed_bundle(rest, place)
            } else {
                let bundle = Bundle::parse(rest)?;
                self.bundle(&bundle, place);
                Ok(bundle.length)
            }
        })
    }

    pub fn bundle(&mut self, bundle: &Bundle<'_>, place: &Place) {
        for entry in &bundle.entries {
            if entry.image.is_empty() {
                continue;
            }
            let mut inner = place.inside_gpu("bundle", bundle.offset);
            inner.gpu = !entry.is_host();
            inner.label.arch = entry.arch().map(str::to_owned);
            inner.kind = inner.gpu.then_some(Kind::Unknown(0));
            let walked = self.any(entry.image, &inner);
            self.settle(walked, entry.image, &inner);
        }
    }

    /// Walks the compressed bundle at the start of the bytes and gives its length.
    pub fn compressed_bundle(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<u64> {
        let ccob = ccob::parse(bytes)?;
        let inner = place.inside("ccob").unpacked(Packed {
            offset: bytes.base(),
            size: None,
            compression: ccob.compression,
        });
        let walk = |walker: &mut Self, data: &[u8]| {
            let bytes = Bytes::new(data);
            // A bundle, and nothing else: that this could hold one more compressed bundle is not
            // in the format, and would let small input unpack without end.
            match Bundle::parse(bytes) {
                Ok(bundle) => walker.bundle(&bundle, &inner),
                Err(error) => walker.problem(error, &inner),
            }
        };
        let size = ccob.unpacked_size;
        match ccob.length {
            Some(length) => {
                match self.unpacked(ccob.compression, ccob.payload, size, walk) {
                    Ok(()) => {}
                    // Where the next one starts is known all the same.
                    Err(error) => self.problem(error, place),
                }
                Ok(length)
            }
            None => {
                self.spend(size, bytes)?;
                let limit = self.options.limits.max_unpacked;
                let payload = ccob.payload;
                let found = unpack::unpack_start(ccob.compression, payload, Some(size), limit)?;
                walk(self, &found.bytes);
                Ok(ccob.header.saturating_add(found.taken))
            }
        }
    }

    /// One image, or several zstd frames of one image each, in a section of its own that is named
    /// for its target: what SYCL compilers write.
    pub fn images_of_target(
        &mut self,
        id: &str,
        bytes: Bytes<'_>,
        place: &Place,
    ) -> StdResult<(), Stopped> {
        let mut inner = place.inside_gpu("section", bytes.base());
        let arch = bundle::arch_of_id(id).or_else(|| id.split_once('-').map(|(_, arch)| arch));
        inner.label.arch = arch.map(str::to_owned);
        inner.kind = Some(Kind::Unknown(0));
        in_a_row(bytes, |rest| {
            if !rest.data().starts_with(unpack::ZSTD_MAGIC) {
                let walked = self.any(rest, &inner);
                self.settle(walked, rest, &inner);
                return Ok(rest.len());
            }
            let compression = Compression::Zstd;
            let limit = self.allowance();
            let found = unpack::unpack_start(compression, rest, None, limit)?;
            self.spend(found.bytes.len() as u64, rest)?;
            let here = inner.unpacked(Packed {
                offset: rest.base(),
                size: Some(found.taken),
                compression,
            });
            let unpacked = Bytes::new(&found.bytes);
            match Format::of(unpacked) {
                Format::Spirv => self.opaque(Kind::Spirv, unpacked, &here),
                Format::Ptx | Format::Fatbin => {
                    let walked = self.any(unpacked, &here);
                    self.settle(walked, unpacked, &here);
                }
                // Intel's own machine code and what is around it are not read.
                _ => self.opaque(Kind::Unknown(0), unpacked, &here),
            }
            Ok(found.taken)
        })
    }
}
