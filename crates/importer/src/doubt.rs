//! Owns finding out which documents a process before this one has sent: they are looked for by `_id`. A generated one belongs
//! to one record of one import; with an `_id` of its own a document counts as found when the stored one is the same byte by
//! byte.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use brimline_bson::ElementType;

use crate::command;
use crate::routing::server_of;
use crate::session::{Session, SessionError};
use crate::shared::Shared;
use crate::statement::{as_stored, id_of};
use crate::work::Work;

/// Most documents that are asked for at once, and how long they may be together: an answer has 16 MiB.
const ASKED_ROWS_MAX: usize = 1_000;
const ASKED_BYTES_MAX: usize = 4 << 20;

/// The documents with an `_id` of their own that were found, so that an equal one further down counts as the duplicate that it is.
#[derive(Default)]
pub struct Claims(Mutex<HashSet<Vec<u8>>>);

impl Claims {
    fn take(&self, id: Vec<u8>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }
}

/// Those of `rows` whose documents the collection holds, ascending as `rows` are.
pub fn find_present(
    shared: &Shared,
    sessions: &mut [Session<'_>],
    claims: &Claims,
    work: &Work,
    rows: &[u32],
) -> Result<Vec<u32>, SessionError> {
    let mut present = Vec::new();
    let servers = sessions.len();
    for (server, session) in sessions.iter_mut().enumerate() {
        let is_there = |&&row: &&u32| server_of(work.document(row), servers) == server;
        let rows: Vec<u32> = rows.iter().filter(is_there).copied().collect();
        let mut begin = 0;
        while begin < rows.len() {
            let end = end_of_question(work, &rows, begin);
            ask(shared, session, claims, work, &rows[begin..end], &mut present)?;
            begin = end;
        }
    }
    present.sort_unstable();
    Ok(present)
}

fn end_of_question(work: &Work, rows: &[u32], begin: usize) -> usize {
    let mut bytes = 0;
    let mut end = begin;
    while end < rows.len() && end - begin < ASKED_ROWS_MAX && (end == begin || bytes < ASKED_BYTES_MAX) {
        bytes += work.document(rows[end]).len();
        end += 1;
    }
    end
}

fn ask(
    shared: &Shared,
    session: &mut Session<'_>,
    claims: &Claims,
    work: &Work,
    rows: &[u32],
    present: &mut Vec<u32>,
) -> Result<(), SessionError> {
    let mut ids = Vec::new();
    let mut asked = 0;
    for &row in rows {
        if let Some(id) = askable_id(work.document(row)) {
            ids.push(id[0]);
            ids.extend_from_slice(asked.to_string().as_bytes());
            ids.push(0);
            ids.extend_from_slice(&id[1..]);
            asked += 1;
        }
    }
    if asked == 0 {
        return Ok(());
    }
    let whole = rows.iter().any(|&row| work.documents.rows[row as usize].has_own_id);
    let request_id = session.next_request_id();
    let mut request = Vec::new();
    shared.commands.find(&mut request, request_id, &ids, asked, whole);
    session.send(&mut request)?;
    let stored = session.receive(stored_by_id)?.map_err(SessionError::BadReply)?;
    for &row in rows {
        let document = work.document(row);
        let Some(id) = askable_id(document) else { continue };
        let Some(found) = stored.get(&id) else { continue };
        let is_own = work.documents.rows[row as usize].has_own_id;
        let is_same =
            || as_stored(document).is_ok_and(|document| document == *found) && claims.take(id.clone());
        if !is_own || is_same() {
            present.push(row);
        }
    }
    Ok(())
}

fn stored_by_id(message: &[u8]) -> Result<HashMap<Vec<u8>, Vec<u8>>, String> {
    let mut stored = HashMap::new();
    command::found(message, |document| {
        if let Some(id) = askable_id(document) {
            stored.insert(id, document.to_vec());
        }
    })?;
    Ok(stored)
}

/// Type and bytes of the `_id`; none where a query would take it for a pattern, or the server takes it for no `_id`.
fn askable_id(document: &[u8]) -> Option<Vec<u8>> {
    let (type_byte, bytes) = id_of(document).ok()??;
    let unaskable = [ElementType::Regex, ElementType::Array, ElementType::Undefined];
    if unaskable.iter().any(|&unaskable| type_byte == unaskable as u8) {
        return None;
    }
    let mut id = Vec::with_capacity(1 + bytes.len());
    id.push(type_byte);
    id.extend_from_slice(bytes);
    Some(id)
}
