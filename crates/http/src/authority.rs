//! The authority of a URL (RFC 3986, 3.2).

/// Host and port. The colons of an IPv6 address are inside brackets.
pub fn split_port<'a>(authority: &'a str, default_port: &'a str) -> (&'a str, &'a str) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            (host, if port.is_empty() { default_port } else { port })
        }
        _ => (authority, default_port),
    }
}
