//! What one task of an application does: a command after the other.

use std::sync::Arc;
use std::time::Duration;

use mongodb::bson::{Document, doc};
use mongodb::error::{Error, ErrorKind, InsertManyError, WriteConcernError};
use mongodb::options::ReadConcern;
use mongodb::{Client, ClientSession};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::calls::{Call, answered, strip};
use crate::frames::{Command, Done, Frames, Outcome, now_ns};
use crate::sessions::Sessions;
use crate::timer::{Timer, within};

pub struct Worker {
    client: Client,
    frames: Arc<Frames>,
    sessions: Arc<Sessions>,
    timer: Timer,
    /// How long an application waits for an answer: the driver has no such bound.
    patience: Duration,
    session: Option<ClientSession>,
}

/// Of a command that inserts nothing.
const NONE: (usize, bool) = (0, true);

/// What a command is for its session.
enum Task {
    Call(Box<Call>),
    Commit,
    Abort,
}

impl Worker {
    pub fn new(
        client: Client,
        frames: Arc<Frames>,
        sessions: Arc<Sessions>,
        patience: Duration,
    ) -> std::io::Result<Self> {
        Ok(Self { client, frames, sessions, timer: Timer::new()?, patience, session: None })
    }

    /// Performs what comes, until nothing does.
    pub async fn work(mut self, mut commands: UnboundedReceiver<Command>) {
        while let Some(command) = commands.recv().await
            && self.sessions.enters()
        {
            self.serve(&command).await;
            self.sessions.leave();
        }
    }

    async fn serve(&mut self, command: &Command) {
        let task = match within(self.patience, self.prepare(command)).await {
            Some(Ok(task)) => task,
            otherwise => {
                let done = otherwise.and_then(Result::err).unwrap_or_else(|| {
                    // Nobody knows how far its transaction is; the next has another session.
                    self.session = None;
                    too_late()
                });
                let now = now_ns();
                self.frames.reply(command, &done, now, now);
                return;
            }
        };
        self.wait(command.due_ns).await;
        let sent_ns = now_ns();
        let done = within(self.patience, self.perform(task, command.is_inside)).await;
        let done_ns = now_ns();
        let done = match done {
            Some(Ok(done)) => done,
            Some(Err(error)) => done_of(&error, command.documents()),
            None => too_late(),
        };
        self.frames.reply(command, &done, sent_ns, done_ns);
    }

    /// What is to be called, in a transaction that has begun.
    async fn prepare(&mut self, command: &Command) -> Result<Task, Done> {
        let body = command.body.as_ref().map_err(|problem| Done::failed(Outcome::Refused, problem))?;
        if command.is_inside && self.session.is_none() {
            let session = self.client.start_session().await.map_err(|error| done_of(&error, NONE))?;
            self.sessions.add(&session);
            self.session = Some(session);
        }
        let task = match body.keys().next().map(String::as_str) {
            Some("commitTransaction") => Task::Commit,
            Some("abortTransaction") => Task::Abort,
            _ => Task::Call(Box::new(
                Call::of(&self.client, command).map_err(|misfit| Done::failed(Outcome::Refused, misfit))?,
            )),
        };
        if let (true, Some(session)) = (command.begins, &mut self.session) {
            // Where none is open that is told without asking the server.
            drop(session.abort_transaction().await);
            let level = body.get_document("readConcern").and_then(|concern| concern.get_str("level"));
            let transaction = session.start_transaction();
            let begun = match level {
                Ok(level) => transaction.read_concern(ReadConcern::custom(level)).await,
                Err(_) => transaction.await,
            };
            begun.map_err(|error| done_of(&error, NONE))?;
        }
        Ok(task)
    }

    async fn wait(&self, due_ns: u64) {
        while let Some(wait_ns) = due_ns.checked_sub(now_ns()).filter(|&wait_ns| wait_ns > 0) {
            if self.timer.set(wait_ns).is_err() || self.timer.rings().await.is_err() {
                return;
            }
        }
    }

    async fn perform(&mut self, task: Task, is_inside: bool) -> mongodb::error::Result<Done> {
        let session = self.session.as_mut().filter(|_| is_inside);
        match (task, session) {
            (Task::Call(call), session) => return call.perform(session).await,
            (Task::Commit, Some(session)) => session.commit_transaction().await?,
            (Task::Abort, Some(session)) => session.abort_transaction().await?,
            (Task::Commit | Task::Abort, None) => {
                return Ok(Done::failed(Outcome::Refused, "an end without a transaction"));
            }
        }
        Ok(answered(doc! { "ok": 1 }))
    }
}

fn too_late() -> Done {
    Done::failed(Outcome::TimedOut, "no answer within the time that an operation has")
}

/// What an error of the driver's amounts to: what the server said, in its own form, or that it said nothing. `documents` as
/// [`Command::documents`] has them.
fn done_of(error: &Error, documents: (usize, bool)) -> Done {
    if let ErrorKind::InsertMany(failed) = error.kind.as_ref() {
        return inserted_in_part(failed, documents);
    }
    if let Some(mut reply) = error.server_response().and_then(|reply| Document::try_from(reply).ok()) {
        strip(&mut reply);
        if !error.labels().is_empty() {
            reply.insert("errorLabels", error.labels().iter().cloned().collect::<Vec<_>>());
        }
        return answered(reply);
    }
    let message = error.kind.to_string();
    match error.kind.as_ref() {
        ErrorKind::Io(_)
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::ServerSelection { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::Authentication { .. } => Done::failed(Outcome::Lost, message),
        _ => Done::failed(Outcome::Refused, message),
    }
}

fn inserted_in_part(failed: &InsertManyError, (count, is_ordered): (usize, bool)) -> Done {
    let errors = failed.write_errors.as_deref().unwrap_or_default();
    let inserted = match errors.first() {
        Some(first) if is_ordered => first.index,
        _ => count.saturating_sub(errors.len()),
    };
    let mut reply = doc! { "ok": 1, "n": inserted as i64 };
    if !errors.is_empty() {
        let each = errors.iter().map(
            |each| doc! { "index": each.index as i64, "code": each.code, "errmsg": each.message.clone() },
        );
        reply.insert("writeErrors", each.collect::<Vec<_>>());
    }
    if let Some(WriteConcernError { code, code_name, message, .. }) = &failed.write_concern_error {
        reply.insert("writeConcernError", doc! { "code": code, "codeName": code_name, "errmsg": message });
    }
    answered(reply)
}
