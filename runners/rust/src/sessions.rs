//! Sessions that had transactions. They end with the runner: one that stays open would keep its locks for a minute.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use mongodb::{Client, ClientSession};

use crate::timer::{pause, within};

/// How long what is under way is waited for: a transaction that begins after the end would stay.
const UNDER_WAY_WITHIN: Duration = Duration::from_millis(500);
const UNDER_WAY_EVERY: Duration = Duration::from_millis(5);
/// How long the server may take to end them.
const END_WITHIN: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Sessions {
    ids: Mutex<Vec<Document>>,
    is_over: AtomicBool,
    under_way: AtomicUsize,
}

impl Sessions {
    pub fn add(&self, session: &ClientSession) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).push(session.id().clone());
    }

    /// Whether a command may begin; if so, [`Self::leave`] follows it.
    pub fn enters(&self) -> bool {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let is_over = self.is_over.load(Ordering::SeqCst);
        if is_over {
            self.leave();
        }
        !is_over
    }

    pub fn leave(&self) {
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    /// Ends them and their transactions; no command begins any more.
    pub async fn end(&self, client: &Client) {
        self.is_over.store(true, Ordering::SeqCst);
        let ids = std::mem::take(&mut *self.ids.lock().unwrap_or_else(PoisonError::into_inner));
        if ids.is_empty() {
            return;
        }
        let idle = async {
            while self.under_way.load(Ordering::SeqCst) > 0 {
                pause(UNDER_WAY_EVERY).await;
            }
        };
        within(UNDER_WAY_WITHIN, idle).await;
        let ids: Vec<Bson> = ids.into_iter().map(Bson::Document).collect();
        let killed = async { client.database("admin").run_command(doc! { "killSessions": ids }).await };
        // An error: then they end by the server's own time.
        drop(within(END_WITHIN, killed).await);
    }
}
