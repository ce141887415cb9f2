//! Owns the protocol as one connection speaks it: the login, requests as bytes, and replies.

use brimline_net::link::{Looks, Lost, LostKind, Part, Refusal, Request};
use brimline_sql::link::{Codec, Fed, Login, UNASKED_BYTES_MAX};
use brimline_sql::rows::{Literals, append_insert, append_rows, append_table};
use brimline_sql::settings::Form as BulkForm;
use brimline_sql::statement::Chosen;
use brimline_sql::target::Target;
use brimline_sql::view::{Row, append_view};

use crate::error::ServerError;
use crate::login::{self, Step, append_startup, append_tls_request};
use crate::message::{HEADER_BYTES, append, append_empty, append_texts, header};
use crate::reply::Reply;
use crate::row;
use crate::text::{SessionLiterals, append_lines, append_parameters};

/// PostgreSQL's protocol.
#[derive(Default)]
pub struct Postgres {
    /// Whether the server's word on TLS is awaited.
    is_securing: bool,
    login: login::Login,
    reply: Reply,
}

/// Appends a statement as one text.
fn append_query(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    append(b'Q', out, |out| {
        let start = out.len();
        fill(out)?;
        // The server would read the text up to there, and find another statement.
        if memchr::memchr(0, &out[start..]).is_some() {
            return Err("text that holds a NUL can't stand in a statement of PostgreSQL".to_owned());
        }
        out.push(0);
        Ok(())
    })
}

/// Appends what asks how a statement's or portal's rows are.
fn append_describe(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.push(b'D');
    out.extend_from_slice(&(name.len() as u32 + 6).to_be_bytes());
    out.push(kind);
    out.extend_from_slice(name);
    out.push(0);
}

/// Follows the one byte that says whether the server has TLS.
fn consent(arrived: &[u8]) -> Result<Login, Lost> {
    match arrived {
        [] => Ok(Login::Needs(1)),
        [b'S'] => Ok(Login::Secures(1)),
        // What comes behind it in clear would be taken for the server's later words.
        [b'S', ..] => Err(Lost::bad("bytes arrived behind the server's consent to TLS")),
        [b'N', ..] => Err(Lost::refused("connections are to be secured, and the server has no TLS")),
        _ => Err(Lost::refused("what the server says of TLS is not PostgreSQL's protocol")),
    }
}

impl Codec for Postgres {
    const MAY_TELL: bool = true;

    fn connected(&mut self, target: &Target, out: &mut Vec<u8>) -> Result<(), Lost> {
        self.is_securing = target.settings.tls;
        if !self.is_securing {
            return append_startup(target, out).map_err(Lost::refused);
        }
        append_tls_request(out);
        Ok(())
    }

    fn secured(&mut self, target: &Target, out: &mut Vec<u8>) -> Result<(), Lost> {
        self.is_securing = false;
        append_startup(target, out).map_err(Lost::refused)
    }

    fn log_in(
        &mut self,
        target: &Target,
        arrived: &[u8],
        is_secure: bool,
        out: &mut Vec<u8>,
    ) -> Result<Login, Lost> {
        if self.is_securing {
            return consent(arrived);
        }
        let Some((letter, length)) = header(arrived) else { return Ok(Login::Needs(HEADER_BYTES)) };
        let foreign = || Lost::refused("what the server says first is not PostgreSQL's protocol");
        let end = HEADER_BYTES + length.filter(|&length| length <= UNASKED_BYTES_MAX).ok_or_else(foreign)?;
        let Some(body) = arrived.get(HEADER_BYTES..end) else { return Ok(Login::Needs(end)) };
        match letter {
            b'E' => return Err(ServerError::read(body)?.lost()),
            b'R' => match self.login.follow(body, target, is_secure)? {
                Step::Wait => {}
                Step::Send(answer) => append::<String>(b'p', out, |out| {
                    out.extend_from_slice(&answer);
                    Ok(())
                })
                .map_err(Lost::refused)?,
            },
            b'S' => self.reply.session.note(body),
            b'Z' => {
                target.announced(&self.reply.session.version);
                return Ok(Login::In(end));
            }
            // The number under which a statement could be cancelled, and what is only told.
            b'K' | b'N' | b'v' | b'A' => {}
            _ => return Err(foreign()),
        }
        Ok(Login::GoesOn(end))
    }

    fn append_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        append_texts(b'Q', &[text.as_bytes()], out);
        Ok(())
    }

    fn append_prepare(&self, number: usize, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let name = number.to_string();
        // Behind both stands how many types of values are given: none, which are two bytes and look like two empty texts.
        append_texts(b'P', &[name.as_bytes(), text.as_bytes(), b"", b""], out);
        append_describe(b'S', name.as_bytes(), out);
        append_empty(b'S', out);
        Ok(())
    }

    fn await_first(&mut self, _is_prepare: bool) {
        self.reply.begin(false, false);
    }

    fn prepared(&mut self) -> usize {
        usize::from(self.reply.parameters)
    }

    fn render(
        &mut self,
        target: &Target,
        request: Request,
        values: &[u8],
        looks: Looks,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let literals = SessionLiterals { backslash_escapes: self.reply.session.backslash_escapes };
        let mut takes_copy = false;
        match request.part {
            Part::Rollback => append_texts(b'Q', &[b"ROLLBACK"], out),
            Part::Bulk => {
                let bulk = target.settings.bulk.as_ref().ok_or("the plan does not say what rows are")?;
                if bulk.form == BulkForm::Rows {
                    append_query(out, |out| append_insert(bulk, values, &literals, out).map(|_| ()))?;
                } else {
                    takes_copy = true;
                    append_query(out, |out| {
                        out.extend_from_slice(b"COPY ");
                        append_table(bulk, SessionLiterals::NAME_QUOTE, out);
                        out.extend_from_slice(b" FROM STDIN");
                        Ok(())
                    })?;
                    append(b'd', out, |out| append_lines(bulk, values, out))?;
                    append_empty(b'c', out);
                }
            }
            Part::Main => match target.requests.choose(request.step, values)? {
                Chosen::Text(text) => append_texts(b'Q', &[text.as_bytes()], out),
                Chosen::Rows(text, rows) => append_query(out, |out| {
                    out.extend_from_slice(text.as_bytes());
                    out.push(b' ');
                    append_rows(rows, &literals, out).map(|_| ())
                })?,
                Chosen::Prepared(statement, values) => {
                    let count = target.requests.prepared()[statement].parameters;
                    append(b'B', out, |out| {
                        // The portal without a name, the statement, and text throughout.
                        out.push(0);
                        brimline_formats::write::append_integer(statement as i64, out);
                        out.extend_from_slice(&[0, 0, 0]);
                        append_parameters(count, values, out)?;
                        out.extend_from_slice(&[0, 0]);
                        Ok::<_, String>(())
                    })?;
                    if looks.at_content {
                        append_describe(b'P', b"", out);
                    }
                    // All rows.
                    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
                    append_empty(b'S', out);
                }
            },
        }
        self.reply.begin(looks.at_content, takes_copy);
        Ok(())
    }

    #[inline]
    fn feed(&mut self, arrived: &[u8]) -> Result<Fed, Lost> {
        self.reply.feed(arrived)
    }

    /// What the server only tells, or why it closes.
    fn feed_unasked(&mut self, arrived: &[u8]) -> Result<Fed, Lost> {
        let mut fed = Fed { taken: 0, needs: HEADER_BYTES, is_done: false };
        if let Some((letter, length)) = header(arrived) {
            let length = length.filter(|&length| length <= UNASKED_BYTES_MAX);
            fed.needs += length.ok_or_else(|| Lost::bad("a message of an impossible length"))?;
            if let Some(body) = arrived.get(HEADER_BYTES..fed.needs) {
                match letter {
                    b'E' => {
                        let message = ServerError::read(body)?.words();
                        return Err(Lost { kind: LostKind::Closed, message });
                    }
                    b'S' => self.reply.session.note(body),
                    b'N' | b'A' => {}
                    _ => return Err(Lost::bad("bytes arrived that nothing called for")),
                }
                fed.taken = fed.needs;
            }
        }
        Ok(fed)
    }

    fn take_refusal(&mut self) -> Option<Box<Refusal>> {
        self.reply.refusal.take()
    }

    fn name_of(refusal: &Refusal) -> String {
        refusal.label.clone()
    }

    fn counts(&self) -> (u64, u64) {
        (self.reply.rows, self.reply.affected)
    }

    fn view(&self, out: &mut Vec<u8>) {
        let reply = &self.reply;
        let first =
            reply.has_first().then_some(|row: &mut Row<'_>| row::write(&reply.columns, &reply.first, row));
        append_view(out, reply.affected, reply.rows, first);
    }
}
