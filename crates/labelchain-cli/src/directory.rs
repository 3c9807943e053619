//! A new directory of files, written whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

use labelchain::data;
use labelchain::error::{Error, Result};

/// Refuses a directory that has files: older ones would mix with new ones.
pub(crate) fn refuse_used(out: &Path) -> Result<()> {
    match out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        true => Err(Error::CannotWrite {
            path: out.into(),
            what: "is a directory with files in it, and older ones would mix with these".into(),
            remedy: "name a new directory, or empty this one".into(),
        }),
        false => Ok(()),
    }
}

/// Writes all files or none: into a temporary directory that takes the name at the end. A name may
/// have a directory before it.
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
        // The directory the user asked for, not a secret.
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).map_err(refused)?;
    }
    fs::rename(place.path(), out).map_err(refused)?;
    let _ = place.keep();
    Ok(())
}
