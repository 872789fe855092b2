//! What PTX says is defined elsewhere.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::error::LinkError;

/// Whether the file `ptx` declares a function or a variable that it does not define. Shared memory
/// whose size the host chooses is declared so too, and is no such thing.
pub fn any(ptx: &Path) -> Result<bool, LinkError> {
    File::open(ptx)
        .and_then(|file| any_in(BufReader::new(file)))
        .map_err(LinkError::io("read llc's", ptx))
}

fn any_in(ptx: impl BufRead) -> std::io::Result<bool> {
    for line in ptx.split(b'\n') {
        let line = line?;
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        if words.next() == Some(b".extern") && words.next() != Some(b".shared") {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::any_in;

    #[test]
    fn functions_and_variables() {
        for (ptx, wanted) in [
            (".extern .func  (.param .b32 func_retval0) vprintf\n", true),
            (
                ".version 7.8\n\t.extern .global .align 4 .b8 table[];\n",
                true,
            ),
            (".extern .shared .align 16 .b8 buffer[];\n", false),
            (".visible .entry saxpy()\n{ // .extern .func\n}\n", false),
            ("", false),
        ] {
            assert_eq!(any_in(ptx.as_bytes()).unwrap(), wanted, "{ptx}");
        }
    }
}
