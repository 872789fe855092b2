//! The private folder of one link, and the step that puts its result in place.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{LinkError, UsageError};

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
    /// be taken for the result. Only a file is removed, and none that is among the inputs.
    pub fn new<I: AsRef<Path>>(output: &Path, inputs: &[I]) -> Result<Self, LinkError> {
        if let Ok(there) = std::fs::canonicalize(output) {
            let path = output.to_path_buf();
            if !there.is_file() {
                return Err(UsageError::OutputIsNoFile { path }.into());
            }
            let same = |input: &I| std::fs::canonicalize(input).is_ok_and(|input| input == there);
            if inputs.iter().any(same) {
                return Err(UsageError::OutputIsInput { path }.into());
            }
        }
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
        let workspace = Workspace::new(&output, &[] as &[&str]).unwrap();
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
        let workspace = Workspace::new(&output, &[] as &[&str]).unwrap();
        fs::write(workspace.file("other"), "x").unwrap();
        drop(workspace);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = Workspace::new(Path::new("no/such/k.ptx"), &[] as &[&str]).unwrap_err();
        assert!(error.to_string().contains("no/such"), "{error}");
    }

    #[test]
    fn inputs_and_devices_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.o");
        fs::write(&path, "input").unwrap();
        let again = dir.path().join("./k.o");
        let error = Workspace::new(&path, &["other", again.to_str().unwrap()]).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "input");
        // By a link, so that only the link is at stake.
        let null = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        for output in [dir.path(), &null] {
            let error = Workspace::new(output, &[] as &[&str]).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{error}");
        }
        assert_eq!(names(dir.path()), ["k.o", "null"]);
    }
}
