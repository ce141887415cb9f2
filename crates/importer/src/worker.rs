//! Owns a working thread: takes a stretch, converts it, sends its documents over a connection of its own and settles what the
//! server answers. While the server works on a command the next one is made.

use brimline_engine::clock::Nanos;
use brimline_formats::Documents;

use crate::Ending;
use crate::batches::{Batch, divide};
use crate::command::{Answer, ServerError, Verb, answer};
use crate::doubt::{Claims, find_present};
use crate::plan::Mode;
use crate::queue::Task;
use crate::session::{Session, SessionError};
use crate::shared::Shared;
use crate::statement;
use crate::work::{DUPLICATE_KEY, Work, is_ignorable};

/// `OutOfDiskSpace`.
const NO_ROOM: i32 = 14_031;

/// A worker.
struct Worker<'a> {
    shared: &'a Shared,
    claims: &'a Claims,
    /// One to each server.
    sessions: Vec<Session<'a>>,
    /// The next request.
    request: Vec<u8>,
    /// The last command of the stretch before, not answered yet.
    last: Option<(Work, Flight)>,
    /// Documents of settled stretches, for their memory.
    spare: Vec<Documents>,
}

/// A command that was sent.
struct Flight {
    batch: Batch,
    request_id: i32,
    bytes: u64,
    sent: Nanos,
}

/// Works until no stretch is left. What goes wrong ends the import.
pub fn work(shared: &Shared, claims: &Claims) {
    let _guard = Guard(shared);
    let worked = Worker::connect(shared, claims).and_then(|mut worker| worker.run());
    match worked {
        Ok(()) | Err(SessionError::Abandoned) => {}
        Err(error) => shared.abandon(Some(Ending::ServerLost { reason: error.to_string() })),
    }
}

/// Other threads would wait for a worker that panicked.
struct Guard<'a>(&'a Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon(Some(Ending::Broken { reason: "a worker panicked".to_owned() }));
        }
    }
}

impl<'a> Worker<'a> {
    fn connect(shared: &'a Shared, claims: &'a Claims) -> Result<Self, SessionError> {
        let sessions =
            Session::open_all(&shared.endpoints, shared.plan.reply_timeout_ns, &shared.is_abandoned)?;
        Ok(Self { shared, claims, sessions, request: Vec::new(), last: None, spare: Vec::new() })
    }

    fn run(&mut self) -> Result<(), SessionError> {
        loop {
            let mut task = self.shared.queue.try_take();
            if task.is_none() {
                // Nothing is to be made meanwhile, and what is unsettled takes up room that the reader waits for.
                self.settle_last()?;
                task = self.shared.queue.take();
            }
            match task {
                Some(task) => self.take_on(task)?,
                None => return self.settle_last(),
            }
        }
    }

    fn take_on(&mut self, task: Task) -> Result<(), SessionError> {
        let (number, input) = (task.number, task.input);
        let mut documents = self.spare.pop().unwrap_or_default();
        documents.clear();
        task.convert.convert(&task.stretch, &mut documents);
        if let Some(error) = &documents.stop {
            self.shared.end_at(number, Ending::of_input(input, error));
        }
        if !self.shared.may_be_sent(number, &documents) {
            return Ok(());
        }
        let mut work = Work::new(task, documents);
        let oversized = work.note_rejected();
        if let Some(oversized) = oversized.filter(|_| self.shared.plan.stop_on_error) {
            work.cut_at(oversized.offset);
            self.refuse(&work, Some(oversized.line), ServerError { code: 0, message: oversized.reason });
        }
        self.send_all(work)
    }

    /// Sends a stretch. Its last command is left unanswered, so that the next stretch is converted meanwhile.
    fn send_all(&mut self, mut work: Work) -> Result<(), SessionError> {
        let present = self.find_present(&mut work)?;
        let division = divide(&self.shared.plan, &work.documents, |row| present.binary_search(&row).is_ok());
        work.outcome.counts.unmatched += division.keyless;
        for (row, reason) in division.broken {
            work.reject(row, ServerError { code: 0, message: reason });
        }
        let mut flight: Option<Flight> = None;
        for batch in division.batches {
            let request_id = self.render(&work, &batch);
            self.settle_last()?;
            if let Some(before) = flight.take() {
                self.settle(&mut work, &before)?;
            }
            if work.is_refused || !self.shared.goes_on(work.task.number) {
                work.is_broken_off = true;
                break;
            }
            let (bytes, sent) = (self.request.len() as u64, self.shared.clock.now());
            self.sessions[batch.server].send(&mut self.request)?;
            work.note_sent(&batch.rows);
            flight = Some(Flight { batch, request_id, bytes, sent });
        }
        match flight {
            Some(flight) => self.last = Some((work, flight)),
            None => self.finish(work),
        }
        Ok(())
    }

    /// Which rows need not be sent, because a process before this one has sent them.
    fn find_present(&mut self, work: &mut Work) -> Result<Vec<u32>, SessionError> {
        if !work.task.in_doubt || self.shared.plan.mode == Mode::Delete {
            return Ok(Vec::new());
        }
        self.settle_last()?;
        let by_key = self.shared.plan.mode != Mode::Insert;
        let rows = (0..work.documents.rows.len() as u32)
            .filter(|&row| !(by_key && work.documents.rows[row as usize].has_own_id));
        let rows: Vec<u32> = rows.collect();
        let present = find_present(self.shared, &mut self.sessions, self.claims, work, &rows)?;
        work.found(present.len() as u64);
        work.note_sent(&present);
        Ok(present)
    }

    /// Makes the command for `batch`; returns its number.
    fn render(&mut self, work: &Work, batch: &Batch) -> i32 {
        let out = &mut self.request;
        self.shared.commands.begin(batch.verb, out);
        for (index, &row) in batch.rows.iter().enumerate() {
            let document = work.document(row);
            let has_own_id = work.documents.rows[row as usize].has_own_id;
            match batch.verb {
                Verb::Insert => out.extend_from_slice(document),
                Verb::Update => {
                    statement::update(out, self.shared.plan.mode, &batch.keys[index], document, has_own_id);
                }
                Verb::Delete => statement::delete(out, &batch.keys[index]),
            }
        }
        let request_id = self.sessions[batch.server].next_request_id();
        self.shared.commands.end(batch.verb, out, request_id);
        request_id
    }

    fn settle_last(&mut self) -> Result<(), SessionError> {
        if let Some((mut work, flight)) = self.last.take() {
            self.settle(&mut work, &flight)?;
            self.finish(work);
        }
        Ok(())
    }

    /// Waits for the answer to a command and counts what it says.
    fn settle(&mut self, work: &mut Work, flight: &Flight) -> Result<(), SessionError> {
        let session = &mut self.sessions[flight.batch.server];
        let answer = session.receive(answer)?.map_err(SessionError::BadReply)?;
        if answer.response_to != flight.request_id {
            return Err(SessionError::BadReply("it belongs to another request".to_owned()));
        }
        let service_ns = self.shared.clock.now() - flight.sent;
        let refused = answer.write_errors.len() as u64;
        if answer.n.saturating_add(refused).max(answer.upserted) > flight.batch.rows.len() as u64 {
            return Err(SessionError::BadReply("it speaks of more documents than were sent".to_owned()));
        }
        self.shared.meter.answered(service_ns, answer.n, refused, flight.bytes);
        if let Some(error) = answer.failure {
            if error.is_of_leaving() {
                return Err(SessionError::Leaving(error.message));
            }
            work.is_broken_off = true;
            let begin = work
                .first_line(&flight.batch)
                .map(|line| format!(" (the whole command from line {line} on)"));
            let message = error.message + &begin.unwrap_or_default();
            self.refuse(work, None, ServerError { code: error.code, message });
            work.is_refused = true;
            return Ok(());
        }
        work.count(&flight.batch, &answer);
        self.settle_errors(work, &flight.batch, answer)
    }

    fn settle_errors(&mut self, work: &mut Work, batch: &Batch, answer: Answer) -> Result<(), SessionError> {
        let ends_at_first = self.shared.plan.maintain_order || self.shared.plan.stop_on_error;
        let mut ends_with = None;
        for (index, error) in answer.write_errors {
            let Some(&row) = batch.rows.get(index) else {
                return Err(SessionError::BadReply(format!("it names a document {index} that was not sent")));
            };
            if error.code == DUPLICATE_KEY && self.was_sent_before(work, batch.verb, row)? {
                continue;
            }
            if ends_with.is_none() && (ends_at_first || !is_ignorable(error.code)) {
                ends_with = Some((work.documents.rows[row as usize].line, error.clone()));
            }
            if error.code == NO_ROOM {
                // It says nothing about the document: who makes room and goes on sends it again.
                work.is_broken_off = true;
                continue;
            }
            let was_last = self.shared.plan.maintain_order && index + 1 < batch.rows.len();
            work.is_broken_off |= was_last;
            work.reject(row, error);
        }
        let concern_error = answer.write_concern_error.map(|error| (None, error));
        if let Some((line, error)) = ends_with.map(|(line, error)| (Some(line), error)).or(concern_error) {
            self.refuse(work, line, error);
            work.is_refused = true;
        }
        Ok(())
    }

    /// A command of the process before was still being executed while the documents were looked for.
    fn was_sent_before(&mut self, work: &mut Work, verb: Verb, row: u32) -> Result<bool, SessionError> {
        if !work.task.in_doubt || verb != Verb::Insert || self.shared.plan.maintain_order {
            return Ok(false);
        }
        let present = find_present(self.shared, &mut self.sessions, self.claims, work, &[row])?;
        work.found(present.len() as u64);
        Ok(!present.is_empty())
    }

    /// A document or command was refused, and that ends the import.
    fn refuse(&self, work: &Work, line: Option<u64>, error: ServerError) {
        let ending =
            Ending::Refused { input: work.task.input, line, code: error.code, reason: error.message };
        self.shared.end_at(work.task.number, ending);
    }

    /// Hands what became of a stretch to the ledger.
    fn finish(&mut self, mut work: Work) {
        let outcome = work.take_outcome();
        let Work { task, documents, is_broken_off, .. } = work;
        if is_broken_off {
            self.shared.break_off(outcome);
        } else {
            self.shared.settle(task.number, outcome);
            self.shared.meter.settled(task.stretch.bytes.len() as u64);
        }
        self.shared.queue.give_back(task.stretch.bytes);
        self.spare.push(documents);
    }
}
