//! Network of a client: limits by address count all its addresses as one.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the network of an address: an IPv4 address itself, an IPv6 address without its last 64 bits, of which one client has all.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_an_ipv4_address_or_64_bits_of_ipv6() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("10.0.0.1", "::ffff:10.0.0.1") && !same("10.0.0.1", "10.0.0.2"));
        assert!(same("2001:db8::1", "2001:db8::ffff:1") && !same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(network("::1".parse().unwrap()).is_loopback());
    }
}
