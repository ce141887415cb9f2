//! What the worker needs of a server's reply, and what its errors say about sending a command again.
//!
//! Sources: the drivers' retryable reads, retryable writes and server discovery specifications (their lists of codes).

use brimline_net::link::{Answer, Refusal, RefusalKind};
use brimline_wire::reply::{self, Labels, Reply, WriteError};

use super::ReplyFacts;
use crate::failure::{CommandFailure, FAILURES_DISTINCT_MAX, Failure, FailureClass, Signs};

/// Codes of a server that is no primary, or not any more: `LegacyNotPrimary`, `NotWritablePrimary`, `NotPrimaryNoSecondaryOk`; and of one
/// that ends or recovers: `ShutdownInProgress`, `PrimarySteppedDown`, `InterruptedAtShutdown`, `InterruptedDueToReplStateChange`,
/// `NotPrimaryOrSecondary`.
const STATE_CHANGE_CODES: [i32; 8] = [10_058, 10_107, 13_435, 91, 189, 11_600, 11_602, 13_436];
/// Codes after which a read may be sent again, besides: `HostUnreachable`, `HostNotFound`, `NetworkTimeout`,
/// `ReadConcernMajorityNotAvailableYet`, `ExceededTimeLimit`, `SocketException`.
const RETRYABLE_READ_CODES: [i32; 6] = [6, 7, 89, 134, 262, 9_001];

/// What the worker needs of a reply. Texts are copied only when the command failed.
#[expect(clippy::inline_always, reason = "out of line it costs every operation some dozens of instructions")]
#[inline(always)]
pub(super) fn facts(reply: &Reply<'_>, bytes: usize) -> ReplyFacts {
    let is_success = reply.ok && reply.first_write_error.is_none() && reply.write_concern_error.is_none();
    ReplyFacts {
        failure: if is_success { None } else { failure(reply).map(Box::new) },
        documents: u64::from(reply.documents),
        n: reply.n.max(0) as u64,
        modified: reply.n_modified.max(0) as u64,
        upserted: u64::from(reply.upserted),
        cursor: reply.cursor_id,
        bytes: bytes as u64,
    }
}

/// The same of a reply behind a link.
pub(super) fn answered(answer: Answer) -> ReplyFacts {
    ReplyFacts {
        failure: answer.refusal.map(|refusal| Box::new(refused(*refusal))),
        documents: answer.rows,
        n: answer.affected,
        modified: answer.affected,
        upserted: 0,
        cursor: 0,
        bytes: answer.bytes,
    }
}

#[cold]
fn refused(refusal: Refusal) -> CommandFailure {
    let Refusal { kind, code, label, message } = refusal;
    let class = match kind {
        RefusalKind::Error => FailureClass::ServerError,
        RefusalKind::ClientStatus => FailureClass::ClientStatus,
        RefusalKind::ServerStatus => FailureClass::ServerStatus,
        RefusalKind::OtherStatus => FailureClass::OtherStatus,
    };
    Failure { class, code, label, message }.into()
}

#[cold]
fn failure(reply: &Reply<'_>) -> Option<CommandFailure> {
    if !reply.ok {
        let labels: Vec<&str> = reply.labels.names().collect();
        let label = match (reply.code_name, labels.as_slice()) {
            (code_name, []) => reply::words(code_name),
            (b"", labels) => labels.join(" "),
            (code_name, labels) => format!("{} ({})", reply::words(code_name), labels.join(" ")),
        };
        let message = reply::words(reply.message);
        let first = Failure { class: FailureClass::ServerError, code: reply.code, label, message };
        return Some(CommandFailure { first, statements: Vec::new(), signs: signs(reply) });
    }
    if let Some(first) = reply.first_write_error {
        let (first, statements) = (write_error(&first), write_errors(reply));
        return Some(CommandFailure { first, statements, signs: signs(reply) });
    }
    let error = reply.write_concern_error?;
    let first = Failure {
        class: FailureClass::WriteConcernError,
        code: error.code,
        label: reply::words(error.code_name),
        message: reply::words(error.message),
    };
    Some(CommandFailure { first, statements: Vec::new(), signs: signs(reply) })
}

/// The server's labels say what becomes of writes; reads go by the code.
fn signs(reply: &Reply<'_>) -> Signs {
    let concern_code = reply.write_concern_error.map_or(0, |error| error.code);
    let is_any_of =
        |codes: &[i32]| (!reply.ok && codes.contains(&reply.code)) || codes.contains(&concern_code);
    let state_changed = is_any_of(&STATE_CHANGE_CODES);
    Signs {
        allows_read: !reply.ok && (state_changed || RETRYABLE_READ_CODES.contains(&reply.code)),
        allows_write: reply.labels.contains(Labels::RETRYABLE_WRITE_ERROR),
        wrote_nothing: reply.labels.contains(Labels::NO_WRITES_PERFORMED),
        state_changed,
        voids_transaction: reply.labels.contains(Labels::TRANSIENT_TRANSACTION_ERROR),
    }
}

/// The failed statements by code, with the message of the first of each. Codes beyond what a run tells apart, and what
/// can't be read, count under code 0, so that no answer costs more than its length.
fn write_errors(reply: &Reply<'_>) -> Vec<(Failure, u64)> {
    let mut counts: Vec<(Failure, u64)> = Vec::new();
    let mut counted = 0;
    // What follows a damaged element is in the rest below.
    let _ = reply.each_write_error(|error| {
        if let Some((_, count)) = counts.iter_mut().find(|(failure, _)| failure.code == error.code) {
            *count += 1;
        } else if counts.len() < FAILURES_DISTINCT_MAX {
            counts.push((write_error(&error), 1));
        } else {
            return;
        }
        counted += 1;
    });
    let rest = u64::from(reply.write_errors).saturating_sub(counted);
    if rest > 0 {
        counts.push((write_error(&WriteError::default()), rest));
    }
    counts
}

fn write_error(error: &WriteError<'_>) -> Failure {
    let message = reply::words(error.message);
    Failure { class: FailureClass::WriteError, code: error.code, label: String::new(), message }
}

#[cfg(test)]
mod tests {
    use brimline_bson::Writer;
    use brimline_wire::{op_msg, reply};

    use super::*;

    fn signs_of(write: impl FnOnce(&mut Writer<'_>)) -> Signs {
        let mut message = Vec::new();
        op_msg::request(&mut message, 1, write);
        let scanned = reply::scan(&message).unwrap();
        facts(&scanned, message.len()).failure.map_or(Signs::NONE, |failure| failure.signs)
    }

    fn labelled(writer: &mut Writer<'_>, label: &str) {
        let labels = writer.begin_array("errorLabels");
        writer.string("0", label);
        writer.end_document(labels);
    }

    #[test]
    fn errors_say_whether_a_command_may_be_sent_again() {
        let stepped_down = signs_of(|writer| {
            writer.double("ok", 0.0);
            writer.int32("code", 10_107);
            labelled(writer, "RetryableWriteError");
        });
        assert!(stepped_down.state_changed && stepped_down.allows_read && stepped_down.allows_write);
        let without_label = signs_of(|writer| {
            writer.double("ok", 0.0);
            writer.int32("code", 10_107);
        });
        assert!(
            without_label.state_changed && !without_label.allows_write,
            "a write goes by its label alone"
        );
        let busy = signs_of(|writer| {
            writer.double("ok", 0.0);
            writer.int32("code", 262);
        });
        assert!(busy.allows_read && !busy.state_changed && !busy.allows_write);
        let duplicate = signs_of(|writer| {
            writer.double("ok", 0.0);
            writer.int32("code", 11_000);
        });
        assert_eq!(duplicate, Signs::NONE);
    }

    /// The drivers' lists, see the file.
    #[test]
    fn errors_allow_what_the_specifications_allow() {
        let list: serde_json::Value =
            serde_json::from_str(include_str!("../../../../tests/specifications/retries.json")).unwrap();
        let code_of =
            |case: &serde_json::Value, key: &str| case[key].as_i64().map(|code| i32::try_from(code).unwrap());
        let is = |case: &serde_json::Value, key: &str| case[key].as_bool().unwrap();
        for case in list["codes"].as_array().unwrap() {
            let signs = signs_of(|writer| {
                writer.double("ok", 0.0);
                writer.int32("code", code_of(case, "code").unwrap());
            });
            let expected = (is(case, "read"), is(case, "write"), is(case, "changed"));
            assert_eq!((signs.allows_read, signs.allows_write, signs.state_changed), expected, "{case}");
        }
        for case in list["writes"].as_array().unwrap() {
            let signs = signs_of(|writer| {
                writer.double("ok", f64::from(u8::from(case["code"].is_null())));
                if let Some(code) = code_of(case, "code") {
                    writer.int32("code", code);
                }
                if let Some(code) = code_of(case, "concern_code") {
                    let error = writer.begin_subdocument("writeConcernError");
                    writer.int32("code", code);
                    writer.end_document(error);
                }
                if let Some(label) = case["label"].as_str() {
                    labelled(writer, label);
                }
            });
            let expected = (is(case, "write"), is(case, "changed"));
            assert_eq!((signs.allows_write, signs.state_changed), expected, "{case}");
        }
    }

    #[test]
    fn a_write_concern_error_can_tell_of_a_step_down() {
        let signs = signs_of(|writer| {
            writer.double("ok", 1.0);
            writer.int32("n", 1);
            let error = writer.begin_subdocument("writeConcernError");
            writer.int32("code", 189);
            writer.end_document(error);
            labelled(writer, "RetryableWriteError");
        });
        assert!(signs.state_changed && signs.allows_write && !signs.allows_read);
    }
}
