//! Secrets: 256 random bits of the system, as text that an address and a cookie can hold; and what is kept of them.

use sha2::{Digest, Sha256};

/// What is kept of a secret: whoever reads the memory of a session store finds nothing to enter with.
pub(crate) type Digested = [u8; 32];

/// A new secret, as 64 hexadecimal digits; nothing where the system has no randomness to give.
pub(crate) fn secret() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is kept of a secret.
pub(crate) fn digest(secret: &str) -> Digested {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (a, b) = (secret().unwrap(), secret().unwrap());
        assert_eq!((a.len(), a == b), (64, false));
        assert_ne!(digest(&a), digest(&b));
    }
}
