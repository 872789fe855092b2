//! The images of a program as a table for people.

use crate::images::Images;
use offload_image::policy::PtxPolicy;
use std::fmt;

/// Characters of the sha256 that are shown: enough to tell images apart.
const SHA256_SHOWN: usize = 12;
const KERNELS_SHOWN: usize = 6;

impl fmt::Display for Images<'_> {
    /// A line per image, under a line of headings: arch, kind, size in bytes, the start of the
    /// sha256, PTX policy, kernels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings =
            ["arch", "kind", "size", "sha256", "ptx policy", "kernels"].map(str::to_owned);
        let rows = self.iter().map(|image| {
            [
                image.arch().to_owned(),
                image.kind().to_string(),
                image.bytes().len().to_string(),
                image.sha256()[..SHA256_SHOWN].to_owned(),
                image.policy().map_or("-", PtxPolicy::name).to_owned(),
                kernels(image.kernels()),
            ]
        });
        let rows: Vec<_> = std::iter::once(headings).chain(rows).collect();
        let width = |column: usize| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: [usize; 6] = std::array::from_fn(width);
        for [arch, kind, size, sha256, policy, kernels] in &rows {
            let [a, k, s, h, p, _] = widths;
            writeln!(
                f,
                "{arch:a$}  {kind:k$}  {size:>s$}  {sha256:h$}  {policy:p$}  {kernels}"
            )?;
        }
        Ok(())
    }
}

fn kernels(names: Result<Option<&[String]>, crate::Error>) -> String {
    match names {
        Err(error) => error.to_string(),
        Ok(None) => "unknown".to_owned(),
        Ok(Some([])) => "none".to_owned(),
        Ok(Some(names)) => {
            let shown = names
                .iter()
                .take(KERNELS_SHOWN)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            match names.len().saturating_sub(KERNELS_SHOWN) {
                0 => shown,
                more => format!("{shown} and {more} more"),
            }
        }
    }
}
