//! ELF objects to an AMD code object: `ld.lld`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::args::ElfJob;
use crate::error::LinkError;
use crate::tool::run;
use crate::workspace::Workspace;

#[cfg(test)]
mod tests;

const EM_AMDGPU: u16 = 224;

/// Carries out `job`.
pub fn link(job: &ElfJob) -> Result<(), LinkError> {
    let workspace = Workspace::new(&job.output, &job.arguments)?;
    let image = workspace.file("image.elf");
    let mut command = Command::new(&job.lld);
    // The multi-call binary `lld` asks for a flavour; `ld.lld` takes it too.
    command.args(["-flavor", "gnu"]).args(&job.arguments);
    command.arg("-o").arg(&image);
    run("ld.lld", &job.lld, &mut command)?;
    check_machine(&image)?;
    workspace.publish(&image)
}

/// A host object among the inputs would make a host library, without a word.
fn check_machine(image: &Path) -> Result<(), LinkError> {
    let mut head = Vec::new();
    File::open(image)
        .and_then(|file| file.take(20).read_to_end(&mut head))
        .map_err(LinkError::io("read ld.lld's", image))?;
    let problem = match head.get(18..20) {
        Some(&[low, high]) if head.starts_with(b"\x7fELF") => {
            match u16::from_le_bytes([low, high]) {
                EM_AMDGPU => return Ok(()),
                machine => format!("an ELF file for machine {machine}, not AMD's {EM_AMDGPU}"),
            }
        }
        _ => "something that is not an ELF file".to_owned(),
    };
    Err(LinkError::Output {
        tool: "ld.lld",
        what: problem,
    })
}
