//! The private folder of one link, and the step that puts its result in place.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::LinkError;

/// A folder beside the output, removed with everything in it when this value goes, whether the
/// link worked or not. Beside the output, because a rename to the output's own name is atomic only
/// within one file system: whoever looks sees the whole image or none.
#[derive(Debug)]
pub struct Workspace {
    folder: TempDir,
    output: PathBuf,
}

impl Workspace {
    /// Also removes what an earlier link left at `output`, so that after a failure nothing old can
    /// be taken for the result.
    pub fn new(output: &Path) -> Result<Self, LinkError> {
        let parent = match output.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        match std::fs::remove_file(output) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LinkError::io("remove the old", output)(error));
            }
            _ => {}
        }
        let folder = tempfile::Builder::new()
            .prefix(".device_linker-")
            .tempdir_in(parent)
            .map_err(LinkError::io("make a temporary folder in", parent))?;
        let output = output.to_path_buf();
        Ok(Workspace { folder, output })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Moves the finished `file` to the output's name and removes the rest.
    pub fn publish(self, file: &Path) -> Result<(), LinkError> {
        std::fs::rename(file, &self.output)
            .map_err(LinkError::io("move the result to", &self.output))?;
        let path = self.folder.path().to_path_buf();
        self.folder
            .close()
            .map_err(LinkError::io("remove the temporary folder", path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::names;
    use std::fs;

    #[test]
    fn publish_leaves_the_output_alone() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("k.ptx");
        let workspace = Workspace::new(&output).unwrap();
        let result = workspace.file("result");
        fs::write(&result, "new").unwrap();
        fs::write(workspace.file("other"), "x").unwrap();
        workspace.publish(&result).unwrap();
        assert_eq!(names(dir.path()), ["k.ptx"]);
        assert_eq!(fs::read_to_string(output).unwrap(), "new");
    }

    #[test]
    fn dropping_leaves_nothing_not_even_an_older_output() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("k.ptx");
        fs::write(&output, "old").unwrap();
        let workspace = Workspace::new(&output).unwrap();
        fs::write(workspace.file("other"), "x").unwrap();
        drop(workspace);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = Workspace::new(Path::new("no/such/k.ptx")).unwrap_err();
        assert!(error.to_string().contains("no/such"), "{error}");
    }
}
