//! Writing files: the new content takes the place of the old in one step, so that no failure leaves half of it behind.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file, which may exist. What is not a regular file, such as a pipe or a device, is written to directly.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let content = content.as_ref();
    match fs::metadata(path) {
        Ok(found) if found.is_file() => replace(path, content),
        Ok(_) => fs::write(path, content),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            put(path, content, None)
        }
        // A link that leads nowhere, or a folder that may not be entered.
        Err(_) => fs::write(path, content),
    }
}

/// Puts new content in place of a file that exists. A link stays a link: the file it leads to is replaced.
pub(crate) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    put(&path, content.as_ref(), Some(permissions))
}

fn put(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let beside = beside(path);
    let written = write_beside(&beside, content, permissions).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The name of the file while it is being written.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".weir-{}", std::process::id()));
    path.with_file_name(name)
}

fn write_beside(beside: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = fs::File::options().write(true).create_new(true).open(beside)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_and_replaced_and_nothing_is_left_beside_them() {
        let folder = std::env::temp_dir().join(format!("weir-output-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("a.json");
        for text in ["first", "second"] {
            write(&file, text).expect("it can be written");
            assert_eq!(fs::read_to_string(&file).expect("it is there"), text);
        }
        assert!(write(&folder.join("no/such/folder"), "text").is_err());
        assert!(write(&folder, "text").is_err());
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
