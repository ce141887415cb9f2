//! Addresses as users and plans write them.

use std::fmt::Display;
use std::net::{SocketAddr, ToSocketAddrs};

/// The first address that `text` names, such as `localhost:27017`.
///
/// # Errors
/// When it names none; the message names it.
pub fn resolve(text: impl ToSocketAddrs + Display) -> Result<SocketAddr, String> {
    let mut addresses = text.to_socket_addrs().map_err(|error| format!("{text}: {error}"))?;
    addresses.next().ok_or_else(|| format!("{text}: the name has no address"))
}
