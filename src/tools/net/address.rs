//! What kind of destination an address is: pure, from the registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Services that hand a machine's credentials to whoever asks from it.
const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254), // most clouds
    Ipv4Addr::new(169, 254, 170, 2),   // containers on AWS ECS
    Ipv4Addr::new(169, 254, 170, 23),  // pods on AWS EKS
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(168, 63, 129, 16),   // Azure's wire server, amid public addresses
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle
];
const METADATA_V6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), // AWS
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),  // pods on AWS EKS
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),  // Google
];

/// A kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reached over the internet.
    Public,
    /// A cloud's metadata service.
    Metadata,
    /// Not reached over the internet, or not what it looks like; in words.
    Special(&'static str),
}

/// The address that a connection really goes to: IPv4 in an IPv6 form (RFC 4291, section 2.5.5.2) is IPv4.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// The kind of an address.
pub(super) fn kind(address: IpAddr) -> Kind {
    match canonical(address) {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => kind_v6(v6),
    }
}

/// IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast (RFC 5771) and what is reserved.
fn kind_v4(address: Ipv4Addr) -> Kind {
    if METADATA_V4.contains(&address) {
        return Kind::Metadata;
    }
    Kind::Special(match address.octets() {
        [0, ..] => "of this network",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "shared by a carrier",
        [127, ..] => "loopback",
        [169, 254, ..] => "link-local",
        [192, 0, 0, _] => "for protocols",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "for documentation",
        [192, 88, 99, _] => "for 6to4 relays",
        [198, 18..=19, ..] => "for benchmarks",
        [224..=239, ..] => "multicast",
        [255, 255, 255, 255] => "broadcast",
        [240..=255, ..] => "reserved",
        _ => return Kind::Public,
    })
}

/// IANA IPv6 Special-Purpose Address Registry. Only global unicast (`2000::/3`) can be public; of what carries
/// an IPv4 address only NAT64's well-known prefix (RFC 6052) is looked into, the rest is refused whole.
fn kind_v6(address: Ipv6Addr) -> Kind {
    if METADATA_V6.contains(&address) {
        return Kind::Metadata;
    }
    Kind::Special(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0, 0, 0, 0, 0, 0, ..] => "compatible with IPv4",
        [0, 0, 0, 0, 0xffff, 0, ..] => "translated from IPv4",
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let embedded = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
            return match kind_v4(embedded) {
                Kind::Special(_) => Kind::Special("a translation of a special IPv4 address"),
                other => other,
            };
        }
        [0x64, 0xff9b, 1, ..] => "for local translation",
        [0x100, 0, 0, _, ..] => "discarded",
        [0xfc00..=0xfdff, ..] => "unique local",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xfec0..=0xfeff, ..] => "site-local",
        [0xff00..=0xffff, ..] => "multicast",
        [0x2001, 0, ..] => "Teredo",
        [0x2001, 0x1..=0x1ff, ..] => "for protocols",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "for documentation",
        [0x2002, ..] => "6to4",
        // ISATAP (RFC 5214, section 6.1) is a tunnel to the IPv4 address at the end.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => "ISATAP",
        [0x2000..=0x3fff, ..] => return Kind::Public,
        _ => "reserved",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_every_range() {
        for (kinds, addresses) in [
            (
                "public",
                "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 \
                 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 \
                 198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111 2001:200::1 2001:4860::8888 2003::1 \
                 2a00::1 3ffe::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8",
            ),
            ("of this network", "0.0.0.0 0.1.2.3 0.255.255.255 ::ffff:0.0.0.0"),
            (
                "private",
                "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 ::ffff:10.0.0.1",
            ),
            ("carrier", "100.64.0.0 100.127.255.255"),
            ("loopback", "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1"),
            ("link-local", "169.254.0.0 169.254.255.255 fe80::1 febf::1"),
            ("for protocols", "192.0.0.0 192.0.0.255 2001:1::1 2001:2::1 2001:20::1 2001:1ff::1"),
            ("documentation", "192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff::1 3fff:fff::1"),
            ("6to4 relays", "192.88.99.1"),
            ("benchmarks", "198.18.0.0 198.19.255.255"),
            ("multicast", "224.0.0.1 239.255.255.255 ff02::1 ffff::1"),
            ("broadcast", "255.255.255.255"),
            ("reserved", "240.0.0.1 255.255.255.254 1::1 4000::1 5f00::1 fe00::1 fbff::1"),
            ("unspecified", "::"),
            ("compatible", "::7f00:1 ::10.0.0.1 ::2 ::808:808"),
            ("translated", "::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8"),
            ("special IPv4", "64:ff9b::7f00:1 64:ff9b::10.0.0.1"),
            ("local translation", "64:ff9b:1::1 64:ff9b:1:ffff::8.8.8.8"),
            ("discarded", "100::1 100:0:0:1::1"),
            ("unique local", "fc00::1 fdff:ffff::1"),
            ("site-local", "fec0::1 feff::1"),
            ("Teredo", "2001::1 2001:0:4136:e378::1"),
            ("6to4", "2002:7f00:1:: 2002:808:808::1"),
            ("ISATAP", "2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:10.0.0.1"),
            (
                "metadata",
                "169.254.169.254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 169.254.170.2 100.100.100.200 \
                 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254",
            ),
        ] {
            for text in addresses.split_whitespace() {
                let address: IpAddr = text.parse().unwrap();
                let found = match kind(address) {
                    Kind::Public => "public",
                    Kind::Metadata => "metadata",
                    Kind::Special(words) => words,
                };
                assert!(found.contains(kinds), "{text}: {found}, not {kinds}");
            }
        }
    }
}
