//! A replica set whose primary changes: which member takes the writes now, and which take reads. One thread asks the members,
//! and only when a worker doubts that what is known still holds; workers read the result.

mod discovery;
mod member;
mod selection;
mod view;

pub use discovery::discover;
pub use view::{Servers, View};
