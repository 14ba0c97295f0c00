//! How many threads there may be: more than a machine has cores help nobody, and very many bring it down.
//!
//! The number may come from an option or, where none is given, from the environment variable that rayon reads when its pool is made. Both are
//! checked before that.

use crate::error::{Error, Result};

/// The most threads that may be asked for.
pub const MOST_THREADS: u16 = 1024;

/// The variables that rayon looks at.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Refuses an environment that asks for more threads than there may be; what is no number, rayon ignores.
pub fn check_environment() -> Result<()> {
    for variable in VARIABLES {
        let found = std::env::var(variable).ok().and_then(|text| text.parse::<usize>().ok());
        if let Some(found) = found.filter(|found| *found > MOST_THREADS.into()) {
            let words = format!("{variable}: found {found}, expected at most {MOST_THREADS} threads");
            return Err(Error::Asked(words.into()));
        }
    }
    Ok(())
}
