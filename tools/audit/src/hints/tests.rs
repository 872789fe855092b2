use offload_image::bytes::Bytes;

use super::*;

fn put(out: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// A PE file of one section, in which so many libraries have one list of so many functions.
fn pe(libraries: usize, functions: usize) -> Vec<u8> {
    const START: usize = 0x200;
    let list = START + 20 * (libraries + 1);
    let name = list + 8 * (functions + 1);
    let end = name + 16;
    let mut out = b"MZ".to_vec();
    out.resize(60, 0);
    put(&mut out, &[64]);
    out.extend_from_slice(b"PE\0\0\x64\x86\x01\0");
    put(&mut out, &[0, 0, 0, 240]);
    // The optional header: of 64-bit files, with 16 directories, of which the second has the imports.
    put(&mut out, &[0x20b]);
    out.resize(88 + 108, 0);
    put(&mut out, &[16, 0, 0, START as u32, 40]);
    out.resize(88 + 240, 0);
    out.extend_from_slice(b".idata\0\0");
    let size = (end - START) as u32;
    put(&mut out, &[size, START as u32, size, START as u32]);
    out.resize(START, 0);
    for _ in 0..libraries {
        put(&mut out, &[list as u32, 0, 0, name as u32, 0]);
    }
    out.resize(list, 0);
    for _ in 0..functions {
        put(&mut out, &[name as u32, 0]);
    }
    out.resize(name + 2, 0);
    out.extend_from_slice(b"cuModuleLoad\0\0");
    out
}

fn imports(bytes: &[u8]) -> Vec<String> {
    let File::Pe64(file) = File::parse(bytes).unwrap() else {
        panic!("no 64-bit PE file");
    };
    let names = pe_imports(&file).unwrap().into_iter();
    names
        .map(|n| String::from_utf8(n.to_vec()).unwrap())
        .collect()
}

#[test]
fn imports_of_pe_files() {
    let bytes = pe(2, 1);
    assert_eq!(imports(&bytes), ["cuModuleLoad"; 2]);
    let hints = of_object(&File::parse(&*bytes).unwrap());
    assert_eq!(
        hints,
        ["it loads images while it runs: it calls cuModuleLoad"]
    );
}

#[test]
fn one_list_for_many_libraries_is_not_copied_for_each() {
    let bytes = pe(1000, 1000);
    let found = imports(&bytes).len();
    assert!((1000..bytes.len()).contains(&found), "{found}");
}

/// An ELF file that needs the libraries whose names start there in the text.
fn needing(text: &str, starts: &[usize]) -> Vec<u8> {
    let names = 64 + 16 * starts.len();
    let table = names + text.len() + 1;
    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1];
    out.resize(64, 0);
    out[40..44].copy_from_slice(&(table as u32).to_le_bytes());
    (out[58], out[60]) = (64, 3);
    for start in starts {
        put(&mut out, &[1, 0, *start as u32, 0]);
    }
    out.extend_from_slice(text.as_bytes());
    out.resize(table + 64, 0);
    for (kind, start, size, link) in [(6, 64, names - 64, 2), (3, names, text.len() + 1, 0)] {
        put(&mut out, &[0, kind, 0, 0, 0, 0]);
        put(
            &mut out,
            &[start as u32, 0, size as u32, 0, link, 0, 0, 0, 0, 0],
        );
    }
    out
}

#[test]
fn libraries_are_told_once_and_no_endless_names() {
    let hints = |text: &str, starts: &[usize]| {
        let bytes = needing(text, starts);
        of_elf(&Elf::parse(Bytes::new(&bytes)).unwrap())
    };
    let said = "it is linked with libcublas.so.12, which brings its own";
    assert_eq!(hints("libc.so.6 libcublas.so.12", &[10, 10, 0]), [said]);
    // Every ninth byte starts another name; those at the front are too long.
    let text = "libcublas".repeat(1000);
    let starts: Vec<_> = (0..1000).map(|index| 9 * index).collect();
    let found = hints(&text, &starts);
    assert_eq!(found.len(), MAX_LIBRARY / 9);
    let text = "libcublas\0".repeat(1000) + &"libcudnn".repeat(10);
    assert_eq!(hints(&text, &[0, 10, 10_000, 20]).len(), 2);
}
