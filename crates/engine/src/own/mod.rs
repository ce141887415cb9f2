//! Operations of the person's own: what a plan says of them ([`plan`]) and what it must satisfy (`validate`), all of them prepared
//! ([`Own`]), the commands of their steps ([`steps`]), which of them comes when ([`mix`]), what each connection keeps for them
//! ([`state`]), and what a reply must say ([`replies`]).

mod examples;
pub mod mix;
pub mod plan;
mod prepared;
pub mod replies;
mod routing;
pub mod state;
pub mod steps;
mod validate;

pub use examples::examples;
pub use prepared::{Identity, Own, Tables};
