//! What MySQL and PostgreSQL share: where they are and what opens them ([`settings`], [`target`]), a connection whose protocol is a
//! part of it ([`link`]), the statements of a plan ([`statement`]), values as literals and rows of a load ([`rows`]), and a reply as a
//! document ([`view`]). It knows neither of the two protocols.

#![forbid(unsafe_code)]

pub mod link;
pub mod rows;
pub mod settings;
pub mod statement;
pub mod target;
pub mod view;
