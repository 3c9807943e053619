//! Writes a new directory of files, either completely or not at all.

use std::fs;
use std::io;
use std::path::Path;

use labelchain::data;
use labelchain::error::{Error, Result};

/// Refuses a directory that contains files, because older files would mix with new ones.
pub(crate) fn refuse_used(out: &Path) -> Result<()> {
    if out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::CannotWrite {
            path: out.into(),
            what: "is a directory with files in it, and older ones would mix with these".into(),
            remedy: "name a new directory, or empty this one".into(),
        });
    }
    Ok(())
}

/// Writes all files or none: they are written to a temporary directory, which is renamed at the end.
/// The name of a file may include a subdirectory.
pub(crate) fn save(out: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    refuse_used(out)?;
    let refused = |source: io::Error| Error::Io { path: out.into(), source: source.kind().into() };
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let place =
        tempfile::Builder::new().prefix(".labelchain-").tempdir_in(parent).map_err(refused)?;
    for (name, content) in files {
        let path = place.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(refused)?;
        }
        data::save(&path, |out| out.write_all(content))?;
    }
    if out.is_dir() {
        fs::remove_dir(out).map_err(refused)?;
    }
    #[cfg(unix)]
    {
        // Temporary directories are private to the user; the result has the usual permissions.
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).map_err(refused)?;
    }
    fs::rename(place.path(), out).map_err(refused)?;
    let _ = place.keep();
    Ok(())
}
