//! HTTP/1.1 in front of a script: every request, whatever its path, is answered with a small JSON when it is due.
//!
//! [`COUNTS_PATH`] says what was counted; the script doesn't apply to it.

mod replies;
mod request;

use crate::clock::Clock;
use crate::counts::Counts;
use crate::model::{Fate, ServiceModel};
use crate::script::{FaultKind, HttpReplies, Script};
use crate::server::front::{Answer, Ending, Front, Unreadable};
use replies::{Body, append, append_garbage, append_impossible_length};
use request::Request;

/// Where the counts are.
const COUNTS_PATH: &[u8] = b"/testserver/counts";

/// Answers requests.
#[derive(Debug)]
pub struct HttpFront {
    counts: Counts,
    clock: Clock,
    model: ServiceModel,
    replies: HttpReplies,
    body: Vec<u8>,
}

impl HttpFront {
    /// An idle server. The script must be valid.
    pub fn new(script: &Script) -> Self {
        let counts = Counts { faults: vec![0; script.faults.len()], ..Counts::default() };
        let model = ServiceModel::new(script);
        Self { counts, clock: Clock::start(), model, replies: script.http, body: Vec::new() }
    }

    /// Appends the reply that a fault makes.
    fn append_fault(&mut self, fault: &FaultKind, request: &Request<'_>, out: &mut Vec<u8>) -> Ending {
        self.body.clear();
        let status = match fault {
            FaultKind::Close => return Ending::Close,
            FaultKind::Silence => return Ending::Nothing,
            FaultKind::Garbage => {
                append_garbage(out);
                return Ending::Reply;
            }
            FaultKind::WrongLength => {
                append_impossible_length(out);
                return Ending::Reply;
            }
            FaultKind::NoDocument => 404,
            FaultKind::Error { code, name, .. } | FaultKind::WriteConcernError { code, name } => {
                let error = serde_json::json!({"error": name, "code": code});
                self.body.extend_from_slice(error.to_string().as_bytes());
                u16::try_from(*code).ok().filter(|code| (400..600).contains(code)).unwrap_or(500)
            }
            FaultKind::WriteError { .. } => 500,
        };
        append(status, Body::of(request, false), &self.body, out);
        request.ending()
    }

    fn append_counts(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        let Counts {
            requests, faults, connections_created, connections_current, bytes_in, bytes_out, ..
        } = &self.counts;
        let counts = serde_json::json!({
            "requests": requests, "methods": self.counts.commands, "faults": faults, "bytes_in": bytes_in,
            "bytes_out": bytes_out, "connections_created": connections_created, "connections_current": connections_current,
        });
        append(200, Body::of(request, false), counts.to_string().as_bytes(), out);
    }
}

impl Front for HttpFront {
    type Client = ();

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn counts_mut(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn message_bytes((): &mut (), bytes: &[u8]) -> Result<Option<usize>, Unreadable> {
        Ok(Request::parse(bytes)?.map(|request| request.bytes).filter(|&whole| whole <= bytes.len()))
    }

    fn answer(
        &mut self,
        (): &mut (),
        message: &[u8],
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, Unreadable> {
        let request = Request::parse(message)?.ok_or(Unreadable)?;
        if request.target == COUNTS_PATH {
            self.append_counts(&request, out);
            return Ok(Answer { due_ns: arrival_ns, ending: request.ending() });
        }
        *self.counts.commands.entry(request.method_name()).or_default() += 1;
        let admission = self.model.admit(arrival_ns);
        self.counts.requests += 1;
        let ending = match admission.fate {
            Fate::Served => {
                replies::write_body(admission.request, self.replies.body_bytes, &mut self.body);
                append(self.replies.status, Body::of(&request, self.replies.chunked), &self.body, out);
                request.ending()
            }
            Fate::Faulty { fault } => {
                self.counts.faults[fault] += 1;
                let kind = self.model.fault(fault).clone();
                self.append_fault(&kind, &request, out)
            }
        };
        Ok(Answer { due_ns: admission.done_ns, ending })
    }
}
