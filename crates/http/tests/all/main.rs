//! All tests of the crate that need no process of their own, in one program: it is linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cookies;
mod hostile;
mod link;
mod redirects;
mod replies;
mod requests;
mod views;

use brimline_http::reply::{Asked, BadReply, Reply};
use brimline_http::{Requests, Settings, Surroundings};
use serde_json::{Value, json};

/// A server's settings, with what `changes` says instead.
fn settings(changes: &Value) -> Settings {
    let mut settings = json!({"address": "127.0.0.1:8080", "authority": "shop.example:8080"});
    settings.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(settings).unwrap()
}

/// Requests of the specs given as JSON, and what surrounds them.
fn requests(specs: &Value, changes: &Value, headers: &[(String, String)]) -> (Requests, Surroundings) {
    let requests = Requests::new(&serde_json::from_value::<Vec<_>>(specs.clone()).unwrap()).unwrap();
    let surroundings = requests.surroundings(&settings(changes), headers).unwrap();
    (requests, surroundings)
}

fn asked(is_head: bool, keeps_body: bool) -> Asked {
    Asked { is_head, keeps_body }
}

/// Reads a reply that comes at once.
fn read(bytes: &[u8], asked: Asked) -> Result<(Reply, usize), BadReply> {
    let mut reply = Reply::default();
    reply.begin(asked);
    let taken = reply.take(bytes)?;
    Ok((reply, taken))
}
