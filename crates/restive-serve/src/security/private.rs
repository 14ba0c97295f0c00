//! Private files: users and the key of the certificate. A file that others can read or change is refused.

use crate::error::{Error, Result};
use restive_tables::show;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a private file.
///
/// # Errors
/// If the group of the file or others have any permission, on systems that have such permissions.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = show::path(path);
    let mut file = File::open(path).map_err(Error::io(&name, "read"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(Error::io(&name, "read"))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(Error::Refused(format!(
                "{name}: found mode {mode:04o}, with which others can read or change it, expected 0600; chmod 600 {name}"
            )));
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(Error::io(&name, "read"))?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn file_that_others_can_read_or_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        write(&path, "secret").unwrap();
        for (mode, is_private) in
            [(0o600, true), (0o400, true), (0o644, false), (0o640, false), (0o604, false), (0o620, false)]
        {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let found = read(&path);
            assert_eq!(found.is_ok(), is_private, "{mode:o}");
            if let Err(error) = found {
                let error = error.to_string();
                assert!(error.contains(&format!("{mode:04o}")) && error.contains("chmod 600 "), "{error}");
            }
        }
    }
}
