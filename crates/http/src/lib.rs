//! HTTP/1.1 as a client: requests made from templates and values ([`request`]), replies scanned as their bytes come
//! ([`reply`]), cookies and redirects, and the links over which they go ([`Connector`]). It knows no workloads.
//!
//! Sources: RFC 9110 (semantics), RFC 9112 (HTTP/1.1), RFC 6265 (cookies), RFC 3986 (URLs).
//!
//! Nothing here trusts a peer: every length is checked before it is used, and memory follows the bytes that arrived, never
//! the bytes that were announced. A body that nobody looks into is counted and dropped.

#![forbid(unsafe_code)]

mod authority;
mod connector;
pub mod cookies;
mod link;
pub mod redirect;
pub mod reply;
pub mod request;
mod server;
mod spec;
mod view;

pub use brimline_net::protocol::{Protocol, Secrets};
pub use connector::Connector;
pub use request::{Misfit, Redirected, Rendered, Requests, Surroundings};
pub use spec::{ConnectTime, Encoding, HeaderSpec, Piece, RequestSpec, Settings};
pub use view::{Parts, view};
