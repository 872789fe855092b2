//! What is fuzzed: a function for each reader. It takes any bytes, and panics where something does
//! not hold that has to hold for any bytes.
//!
//! The programs in `fuzz_targets` hand these functions to libFuzzer; `run.sh` runs them all. The
//! ordinary tests run them over the seeds and a few thousand mutants of those, without libFuzzer.
#![forbid(unsafe_code)]

pub mod audit;
pub mod check;
pub mod image;
pub mod nested;
pub mod seeds;
pub mod take;
pub mod write;

/// A body, by the name of its program.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("ar", audit::ar),
    ("bundle", image::bundle),
    ("ccob", image::ccob),
    ("coff", audit::coff),
    ("cubin", image::cubin),
    ("elf", image::elf),
    ("fatbin", image::fatbin),
    ("gfx", image::gfx),
    ("macho", audit::macho),
    ("msgpack", image::msgpack),
    ("nested", nested::nested),
    ("offload_binary", image::offload_binary),
    ("pe", audit::pe),
    ("ptx", image::ptx),
    ("relocatable", write::relocatable),
    ("scan", audit::scan),
    ("target", image::target),
    ("unpack", audit::unpack),
    ("write_bundle", write::write_bundle),
    ("write_fatbin", write::write_fatbin),
    ("write_offload_binary", write::write_offload_binary),
    ("zip", audit::zip),
];

#[cfg(test)]
mod tests;
