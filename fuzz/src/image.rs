//! The readers of `tools/image`.

use memchr::memmem;
use offload_image::arch;
use offload_image::bundle::{arch_of_id, Bundle};
use offload_image::bytes::Bytes;
use offload_image::ccob;
use offload_image::cubin::Cubin;
use offload_image::elf::Elf;
use offload_image::fatbin::Fatbin;
use offload_image::gfx::CodeObject;
use offload_image::image::Content;
use offload_image::msgpack::{Reader, Value};
use offload_image::offload_binary::{OffloadBinary, Packed};
use offload_image::policy::PtxPolicy;
use offload_image::ptx::{is_ptx, module_length, Ptx, VERSION};
use offload_image::strong::strong_kernels;
use offload_image::target::{Sm, Target};

use crate::check;

pub fn elf(data: &[u8]) {
    check::fault(data, |bytes| Elf::parse(bytes).err());
    let Ok(elf) = Elf::parse(Bytes::new(data)) else {
        return;
    };
    for section in &elf.sections {
        check::inside(data, section.bytes);
    }
    let extent = usize::try_from(elf.extent()).expect("a length");
    assert!(extent <= data.len());
    // What stands behind the file is none of it. Only the room that long names have may shrink.
    if let Ok(alone) = Elf::parse(Bytes::new(&data[..extent])) {
        assert_eq!(alone.sections.len(), elf.sections.len());
        assert_eq!(alone.extent(), elf.extent());
    } else {
        assert!(elf.sections.len() > 64, "it is read with bytes behind it");
    }
    for dynamic in [false, true] {
        check::fault(data, |bytes| Elf::parse(bytes).ok()?.symbols(dynamic).err());
        let symbols = elf.symbols(dynamic).unwrap_or_default();
        let names: usize = symbols.iter().map(|symbol| symbol.name.len()).sum();
        assert!(names <= 4 * data.len(), "names cost more than the file");
    }
    check::fault(data, |bytes| Elf::parse(bytes).ok()?.notes().err());
    for note in elf.notes().unwrap_or_default() {
        check::inside(data, note.desc);
    }
}

pub fn cubin(data: &[u8]) {
    check::fault(data, |bytes| Cubin::parse(bytes).err());
    let Ok(cubin) = Cubin::parse(Bytes::new(data)) else {
        return;
    };
    assert!(cubin.sm <= 0xff);
    kernels(data, &cubin.kernels);
    let content = Content::parse(Bytes::new(data));
    assert_eq!(content, Ok(Content::Cubin(cubin)));
    strong(data);
}

pub fn gfx(data: &[u8]) {
    check::fault(data, |bytes| CodeObject::parse(bytes).err());
    let Ok(code) = CodeObject::parse(Bytes::new(data)) else {
        return;
    };
    kernels(data, &code.kernels);
    if let Some(target) = code.target {
        let text = target.to_string();
        assert_eq!(Target::parse(&text), Ok(Target::Gfx(target)), "{text}");
    }
    let content = Content::parse(Bytes::new(data));
    assert_eq!(content, Ok(Content::Gfx(code)));
    strong(data);
}

fn kernels(data: &[u8], names: &[String]) {
    check::sorted(names);
    for name in names {
        assert!(memmem::find(data, name.as_bytes()).is_some(), "{name}");
    }
}

/// Of the kernels of an image some are its alone.
fn strong(data: &[u8]) {
    let content = Content::parse(Bytes::new(data)).expect("an image");
    check::fault(data, |bytes| strong_kernels(bytes, &content).err());
    let strong = strong_kernels(Bytes::new(data), &content).unwrap_or_default();
    check::sorted(&strong);
    assert!(strong.iter().all(|name| content.kernels().contains(name)));
}

pub fn msgpack(data: &[u8]) {
    let read_all = |mut reader: Reader<'_>| loop {
        if let Err(error) = reader.value() {
            return Some(error);
        }
    };
    check::fault(data, |bytes| read_all(Reader::new(bytes)));
    check::fault(data, |bytes| Reader::new(bytes).skip_value().err());
    let (mut skips, mut walks) = (Reader::new(Bytes::new(data)), Reader::new(Bytes::new(data)));
    if skips.skip_value().is_err() {
        return;
    }
    // To skip a value is to read everything in it.
    let mut left = 1_u64;
    while left > 0 {
        left -= 1;
        left += match walks.value().expect("it was skipped") {
            Value::Array(count) => count,
            Value::Map(pairs) => 2 * pairs,
            Value::Str(_) | Value::Other => 0,
        };
    }
    assert_eq!(read_all(skips), read_all(walks), "they end elsewhere");
}

pub fn ptx(data: &[u8]) {
    const HEAD: usize = 4096;
    let read = Ptx::parse(data, 0);
    match &read {
        Ok(ptx) => {
            check::sorted(&ptx.kernels);
            // ptxas takes zeros before the number as well.
            if let Some(sm) = Sm::parse(&ptx.target) {
                assert_eq!(ptx.sm, Some(sm));
            }
            if is_ptx(data) {
                strong(data);
            }
        }
        Err(error) => check::place(error, data.len() as u64),
    }
    if data.len() <= HEAD {
        assert_eq!(is_ptx(data), read.is_ok());
    }
    let mut at = 0;
    while let Some(start) = memmem::find(&data[at..], VERSION).map(|found| at + found) {
        let length = module_length(&data[start..]);
        if let Some(length) = length {
            let module = Ptx::parse(&data[start..start + length], start as u64);
            assert!(module.expect("a module").sm.is_some());
        }
        at = start + length.unwrap_or(1);
    }
}

pub fn fatbin(data: &[u8]) {
    check::fault(data, |bytes| Fatbin::parse(bytes).err());
    let Ok(fatbin) = Fatbin::parse(Bytes::new(data)) else {
        return;
    };
    let length = usize::try_from(fatbin.length).expect("a length");
    let alone = Fatbin::parse(Bytes::new(&data[..length])).expect("without what follows");
    assert_eq!(alone.entries.len(), fatbin.entries.len());
    let mut at = 0;
    for entry in &fatbin.entries {
        check::inside(&data[..length], entry.payload);
        assert!(entry.payload.base() >= at, "payloads overlap");
        at = entry.payload.base() + entry.payload.len();
    }
    crate::write::fatbin_again(&fatbin);
}

pub fn offload_binary(data: &[u8]) {
    check::fault(data, |bytes| OffloadBinary::parse(bytes).err());
    check::fault(data, |bytes| OffloadBinary::parse_all(bytes).err());
    check::fault(data, |bytes| Packed::parse(bytes).err());
    let bytes = Bytes::new(data);
    if let Ok(Some(packed)) = Packed::parse(bytes) {
        assert!(OffloadBinary::parse(bytes).is_err(), "packed and not");
        check::inside(data, packed.body);
        let body = &data[data.len() / 2..];
        let whole = packed.restore(body);
        assert!(whole.ends_with(body));
        assert!(Packed::parse(Bytes::new(&whole)).is_ok_and(|again| again.is_none()));
    }
    let Ok(binary) = OffloadBinary::parse(bytes) else {
        return;
    };
    let length = usize::try_from(binary.length).expect("a length");
    let (mut images, mut texts) = (0, 0);
    for entry in &binary.entries {
        for (key, value) in &entry.strings {
            assert!(entry.get(key).is_some());
            texts += key.len() + value.len();
        }
        if let Some(image) = entry.image {
            check::inside(&data[..length], image);
            images += image.data().len();
        }
    }
    assert!(images <= length, "images cost more than the file");
    assert!(texts <= 4 * length, "strings cost more than the file");
    if let Ok(all) = OffloadBinary::parse_all(bytes) {
        assert_eq!(all[0].entries.len(), binary.entries.len());
        assert!(all.iter().map(|one| one.length).sum::<u64>() <= bytes.len());
    }
}

pub fn bundle(data: &[u8]) {
    check::fault(data, |bytes| Bundle::parse(bytes).err());
    let Ok(bundle) = Bundle::parse(Bytes::new(data)) else {
        return;
    };
    let length = usize::try_from(bundle.length).expect("a length");
    let mut images = 0;
    for entry in &bundle.entries {
        check::inside(&data[..length], entry.image);
        images += entry.image.data().len();
        assert!(entry.arch().is_none_or(|arch| entry.id.ends_with(arch)));
    }
    assert!(images <= data.len(), "images cost more than the file");
    let images: Vec<_> = bundle
        .entries
        .iter()
        .map(|e| (e.id, e.image.data()))
        .collect();
    crate::write::bundle_of(&images);
}

pub fn ccob(data: &[u8]) {
    check::fault(data, |bytes| ccob::parse(bytes).err());
    let Ok(found) = ccob::parse(Bytes::new(data)) else {
        return;
    };
    check::inside(data, found.payload);
    let length = found.header + found.payload.len();
    assert_eq!(length, found.length.unwrap_or(data.len() as u64));
}

/// Names of architectures, and what else is read out of short texts.
pub fn target(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    match Target::parse(text) {
        Ok(target) => {
            let name = target.to_string();
            assert_eq!(Target::parse(&name), Ok(target));
            assert_eq!(target.rank().1, name);
        }
        Err(error) => assert!(error.to_string().len() <= text.len() + 200),
    }
    if let Some(sm) = Sm::parse(text) {
        assert_eq!(sm.to_string(), text);
    }
    if let Some(near) = arch::nearest(text) {
        assert!(arch::by_name(near).is_some());
    }
    if let Some(arch) = arch_of_id(text) {
        assert!(text.ends_with(arch) && arch.len() < text.len());
    }
    if let Ok(policy) = text.parse::<PtxPolicy>() {
        assert_eq!(policy.name(), text);
    }
}
