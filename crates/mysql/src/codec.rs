//! Owns the protocol as one connection speaks it: the login, requests as bytes, and replies.

use brimline_net::link::{Looks, Lost, LostKind, Part, Refusal, Request};
use brimline_sql::link::{Codec, Fed, Login, UNASKED_BYTES_MAX};
use brimline_sql::rows::{append_insert, append_rows};
use brimline_sql::settings::{Form as BulkForm, Settings};
use brimline_sql::statement::Chosen;
use brimline_sql::target::Target;
use brimline_sql::view::{Row, append_view};

use crate::error::{ERROR, ServerError};
use crate::literals::SessionLiterals;
use crate::login::{self, Hello, Proving, Step, capabilities};
use crate::packet::{self, HEADER_BYTES, header};
use crate::parameters::append_execute;
use crate::reply::{Agreed, Form, NO_BACKSLASH_ESCAPES, Reply};
use crate::row;

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;

/// MySQL's and MariaDB's protocol.
#[derive(Default)]
pub struct Mysql {
    greeted: Greeted,
    proving: Proving,
    /// Numbers of the prepared statements, in the order of the plan's.
    statements: Vec<u32>,
    reply: Reply,
}

/// How far the server's greeting is followed.
#[derive(Default)]
enum Greeted {
    #[default]
    No,
    /// TLS comes before the login.
    Securing(Box<Hello>),
    Yes,
}

impl Mysql {
    fn welcome(&mut self, target: &Target, payload: &[u8], out: &mut Vec<u8>) -> Result<bool, Lost> {
        let hello = Hello::read(payload)?;
        target.announced(&hello.version);
        if !target.settings.tls {
            return self.say_login(target, &hello, 1, out).map(|()| false);
        }
        if hello.capabilities & capabilities::SSL == 0 {
            return Err(Lost::refused("connections are to be secured, and the server has no TLS"));
        }
        let agreed = hello.agreed(!target.settings.database.is_empty(), true);
        append_packet(1, out, |out| {
            hello.append_head(agreed, out);
            Ok(())
        })?;
        self.greeted = Greeted::Securing(Box::new(hello));
        Ok(true)
    }

    fn say_login(
        &mut self,
        target: &Target,
        hello: &Hello,
        number: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), Lost> {
        let database = target.settings.database.as_str();
        let agreed = hello.agreed(!database.is_empty(), target.settings.tls);
        self.reply = Reply::new(Agreed {
            ends_with_ok: agreed & capabilities::DEPRECATE_EOF != 0,
            has_formats: hello.extended_agreed() != 0,
        });
        self.greeted = Greeted::Yes;
        append_packet(number, out, |out| {
            self.proving =
                hello.append_login(agreed, &target.secrets.username, password(target), database, out)?;
            Ok(())
        })
    }
}

/// A packet of a login is short, and its filling says itself what is wrong.
fn append_packet(
    number: u8,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Lost>,
) -> Result<(), Lost> {
    let mut outcome = Ok(());
    let _ = packet::append(number, out, |out| {
        outcome = fill(out);
        Ok(())
    });
    outcome
}

fn password(target: &Target) -> &str {
    target.secrets.password.as_ref().map_or("", |password| password.as_str())
}

/// Appends a command of text; the number of the first packet of its reply.
fn append_command(command: u8, text: &str, out: &mut Vec<u8>) -> Result<u8, String> {
    packet::append(0, out, |out| {
        out.push(command);
        out.extend_from_slice(text.as_bytes());
        Ok(())
    })
}

impl Codec for Mysql {
    /// Dates are those of UTC, as BSON's are.
    const SETTINGS: &'static [&'static str] = &["SET time_zone = '+00:00'"];
    const MAY_TELL: bool = false;

    fn check(settings: &Settings) -> Result<(), String> {
        if settings.bulk.as_ref().is_some_and(|bulk| bulk.form == BulkForm::Copy) {
            return Err("COPY is PostgreSQL's; MySQL takes rows".to_owned());
        }
        Ok(())
    }

    fn connected(&mut self, _target: &Target, _out: &mut Vec<u8>) -> Result<(), Lost> {
        Ok(())
    }

    fn secured(&mut self, target: &Target, out: &mut Vec<u8>) -> Result<(), Lost> {
        match std::mem::take(&mut self.greeted) {
            Greeted::Securing(hello) => self.say_login(target, &hello, 2, out),
            Greeted::No | Greeted::Yes => Err(Lost::bad("TLS begins before the server's greeting")),
        }
    }

    fn log_in(
        &mut self,
        target: &Target,
        arrived: &[u8],
        is_secure: bool,
        out: &mut Vec<u8>,
    ) -> Result<Login, Lost> {
        let Some((length, number)) = header(arrived) else { return Ok(Login::Needs(HEADER_BYTES)) };
        if length > UNASKED_BYTES_MAX {
            return Err(Lost::bad("what the server says first is not MySQL's protocol"));
        }
        let end = HEADER_BYTES + length;
        let Some(payload) = arrived.get(HEADER_BYTES..end) else { return Ok(Login::Needs(end)) };
        if matches!(self.greeted, Greeted::No) {
            let secures = self.welcome(target, payload, out)?;
            return Ok(if secures { Login::Secures(end) } else { Login::GoesOn(end) });
        }
        match login::follow(payload, &mut self.proving, password(target), is_secure)? {
            Step::Done => return Ok(Login::In(end)),
            Step::Wait => {}
            Step::Send(proof) => append_packet(number.wrapping_add(1), out, |out| {
                out.extend_from_slice(&proof);
                Ok(())
            })?,
        }
        Ok(Login::GoesOn(end))
    }

    fn append_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        append_command(QUERY, text, out).map(|_| ())
    }

    fn append_prepare(&self, _number: usize, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        append_command(PREPARE, text, out).map(|_| ())
    }

    fn await_first(&mut self, is_prepare: bool) {
        self.reply.begin(if is_prepare { Form::Prepared } else { Form::Text }, 1, false);
    }

    fn prepared(&mut self) -> usize {
        let (id, parameters) = self.reply.prepared;
        self.statements.push(id);
        usize::from(parameters)
    }

    fn render(
        &mut self,
        target: &Target,
        request: Request,
        values: &[u8],
        looks: Looks,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let literals = SessionLiterals { backslash_escapes: self.reply.status & NO_BACKSLASH_ESCAPES == 0 };
        let mut form = Form::Text;
        let number = match request.part {
            Part::Rollback => append_command(QUERY, "ROLLBACK", out)?,
            Part::Bulk => {
                let bulk = target.settings.bulk.as_ref().ok_or("the plan does not say what rows are")?;
                packet::append(0, out, |out| {
                    out.push(QUERY);
                    append_insert(bulk, values, &literals, out).map(|_| ())
                })?
            }
            Part::Main => match target.requests.choose(request.step, values)? {
                Chosen::Text(text) => append_command(QUERY, text, out)?,
                Chosen::Rows(text, rows) => packet::append(0, out, |out| {
                    out.push(QUERY);
                    out.extend_from_slice(text.as_bytes());
                    out.push(b' ');
                    append_rows(rows, &literals, out).map(|_| ())
                })?,
                Chosen::Prepared(statement, values) => {
                    form = Form::Binary;
                    let id = self.statements.get(statement).ok_or("the statement is not prepared")?;
                    let count = target.requests.prepared()[statement].parameters;
                    packet::append(0, out, |out| append_execute(*id, count, values, out))?
                }
            },
        };
        self.reply.begin(form, number, looks.at_content);
        Ok(())
    }

    #[inline]
    fn feed(&mut self, arrived: &[u8]) -> Result<Fed, Lost> {
        self.reply.feed(arrived)
    }

    fn feed_unasked(&mut self, arrived: &[u8]) -> Result<Fed, Lost> {
        let mut needs = HEADER_BYTES;
        if let Some((length, _)) = header(arrived) {
            needs += length.min(UNASKED_BYTES_MAX);
            match arrived.get(HEADER_BYTES..needs) {
                Some(payload @ [ERROR, ..]) => {
                    let message = ServerError::read(payload)?.words();
                    return Err(Lost { kind: LostKind::Closed, message });
                }
                Some(_) => return Err(Lost::bad("bytes arrived that nothing called for")),
                None => {}
            }
        }
        Ok(Fed { taken: 0, needs, is_done: false })
    }

    fn take_refusal(&mut self) -> Option<Box<Refusal>> {
        self.reply.refusal.take()
    }

    fn name_of(refusal: &Refusal) -> String {
        refusal.code.to_string()
    }

    fn counts(&self) -> (u64, u64) {
        (self.reply.rows, self.reply.affected)
    }

    fn view(&self, out: &mut Vec<u8>) {
        let reply = &self.reply;
        let first = reply.has_first().then_some(|row: &mut Row<'_>| {
            if reply.is_binary() {
                row::write_binary(&reply.columns, &reply.first, row);
            } else {
                row::write_text(&reply.columns, &reply.first, row);
            }
        });
        append_view(out, reply.affected, reply.rows, first);
    }
}
