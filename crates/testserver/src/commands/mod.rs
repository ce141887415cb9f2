//! Commands and their replies: a whole message in, when and how it is answered out. Knows no sockets.

mod backend;
mod collections;
mod command;
mod cursors;
mod error;
mod legacy;
mod read;
mod request;
mod server_info;
mod server_status;
mod write;

pub use backend::Backend;
pub use command::Command;
pub use error::CommandError;
pub use request::Request;
