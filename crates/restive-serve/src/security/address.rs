//! Where the desk may be reached: at this machine, unless whoever opens it has said who may enter and how the way is kept.
//!
//! | address | without `--users` | with `--users` |
//! |---|---|---|
//! | loopback | one planner, who has the token | users |
//! | any other | refused | with a certificate, or with `--insecure-http` spelled out |

use crate::error::{Error, Result};
use std::net::IpAddr;

/// Refuses an address at which people could come in whom nobody knows.
pub(crate) fn check(address: IpAddr, has_users: bool, has_tls: bool, insecure_http: bool) -> Result<()> {
    if address.is_loopback() {
        return Ok(());
    }
    if !has_users {
        return Err(Error::Refused(format!(
            "--address {address}: found no --users, expected them: other machines can reach this address, and without users \
             nobody would be asked who they are; restive user add FILE NAME makes the first"
        )));
    }
    if !has_tls && !insecure_http {
        return Err(Error::Refused(format!(
            "--address {address}: found no --tls-cert and --tls-key, expected them: names and passwords would cross the network \
             in the open; --insecure-http says that this is meant, for instance behind a proxy that keeps them"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_without_users_and_a_kept_way() {
        let [home, all]: [IpAddr; 2] = ["127.0.0.1", "0.0.0.0"].map(|text| text.parse().unwrap());
        assert!(check(home, false, false, false).is_ok());
        assert!(check("::1".parse().unwrap(), false, false, false).is_ok());
        assert!(check(all, false, true, true).unwrap_err().to_string().contains("found no --users"));
        assert!(check(all, true, false, false).unwrap_err().to_string().contains("--tls-cert"));
        assert!(check(all, true, true, false).is_ok());
        assert!(check(all, true, false, true).is_ok());
    }
}
