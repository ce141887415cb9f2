//! Owns a reply: where it ends, and what it says. Rows are counted and passed over, so that memory holds the first one at most, and
//! that only where it is looked at.

#[cfg(test)]
mod tests;

use brimline_net::link::{Lost, Refusal};
use brimline_sql::link::Fed;

use crate::error::{ERROR, ServerError};
use crate::fields::Fields;
use crate::packet::{HEADER_BYTES, PAYLOAD_BYTES_MAX, header};
use crate::row::Column;

const OK: u8 = 0x00;
const LOCAL_FILE: u8 = 0xfb;
const END: u8 = 0xfe;
/// Packets below this length that begin with [`END`] are no rows, where the end of rows is not an OK.
const END_BYTES_MAX: usize = 9;
/// Flags of the server's status.
const MORE_RESULTS: u16 = 0x0008;
pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
/// More than a table can have (4 096).
const COLUMNS_MAX: u64 = 65_535;
/// Longest row, as `max_allowed_packet` has it at most.
const ROW_BYTES_MAX: usize = 1 << 30;

/// A reply under way.
#[derive(Debug, Default)]
pub struct Reply {
    stage: Stage,
    form: Form,
    agreed: Agreed,
    /// Number of the next packet.
    number: u8,
    /// How much of a row's packet is still to come.
    left: usize,
    /// Whether that packet is followed by another of the same row.
    goes_on: bool,
    keeps_first: bool,
    /// Result sets that are over.
    results: u64,
    /// Columns of the first result set, where its first row is kept.
    pub columns: Vec<Column>,
    /// First row, where it is kept.
    pub first: Vec<u8>,
    /// Rows of all result sets.
    pub rows: u64,
    /// Changed rows of all statements.
    pub affected: u64,
    /// The server's status.
    pub status: u16,
    /// What a preparation brought: the statement's number and how many parameters it has.
    pub prepared: (u32, u16),
    pub refusal: Option<Box<Refusal>>,
}

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Whether the end of rows is an OK.
    pub ends_with_ok: bool,
    /// Whether definitions of columns name a format.
    pub has_formats: bool,
}

/// What a request is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Results whose values are text.
    #[default]
    Text,
    /// Results whose values are binary.
    Binary,
    /// A prepared statement.
    Prepared,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Start,
    /// Definitions that are to come, and those of a prepared statement's columns after them.
    Definitions {
        left: u64,
        then: u64,
    },
    /// The end of the definitions.
    DefinitionsEnd {
        then: u64,
    },
    Rows,
    Done,
}

impl Reply {
    /// For a connection whose sides have agreed.
    pub fn new(agreed: Agreed) -> Self {
        Self { agreed, ..Self::default() }
    }

    /// Begins anew. `number`: of the first packet.
    pub fn begin(&mut self, form: Form, number: u8, keeps_first: bool) {
        self.columns.clear();
        self.first.clear();
        self.refusal = None;
        (self.stage, self.form, self.number, self.keeps_first) = (Stage::Start, form, number, keeps_first);
        (self.left, self.goes_on, self.results, self.rows, self.affected) = (0, false, 0, 0, 0);
    }

    /// Whether the first row was kept.
    pub fn has_first(&self) -> bool {
        !self.first.is_empty()
    }

    /// Whether the values of rows are binary.
    pub fn is_binary(&self) -> bool {
        self.form == Form::Binary
    }

    /// Follows `bytes`, which stand behind those that were taken before.
    ///
    /// # Errors
    /// When they are no reply.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Lost> {
        let mut taken = 0;
        let more = |taken: usize, needs: usize| Ok(Fed { taken, needs, is_done: false });
        loop {
            let rest = &bytes[taken..];
            if self.left > 0 {
                let passed = self.left.min(rest.len());
                self.pass(&rest[..passed])?;
                taken += passed;
                if self.left > 0 {
                    return more(taken, 1);
                }
                continue;
            }
            if self.stage == Stage::Done {
                return Ok(Fed { taken, needs: 0, is_done: true });
            }
            let Some((length, number)) = header(rest) else { return more(taken, HEADER_BYTES) };
            if number != self.number {
                return Err(Lost::bad(format!("packet {number} arrived where {} is next", self.number)));
            }
            if self.goes_on {
                taken += self.enter(length);
                continue;
            }
            if self.stage == Stage::Rows {
                let first = rest.get(HEADER_BYTES).copied().filter(|_| length > 0);
                let Some(first) = first.or((length == 0).then_some(OK)) else {
                    return more(taken, HEADER_BYTES + 1);
                };
                if self.is_row(first, length)? {
                    self.rows += 1;
                    taken += self.enter(length);
                    continue;
                }
            }
            if length == PAYLOAD_BYTES_MAX {
                return Err(Lost::bad("a packet of 16 MiB arrived where only short ones are"));
            }
            let Some(payload) = rest.get(HEADER_BYTES..HEADER_BYTES + length) else {
                return more(taken, HEADER_BYTES + length);
            };
            self.number = self.number.wrapping_add(1);
            taken += HEADER_BYTES + length;
            self.read(payload)?;
        }
    }

    /// Begins to pass over a packet of a row; the length of its header.
    fn enter(&mut self, length: usize) -> usize {
        self.number = self.number.wrapping_add(1);
        self.left = length;
        self.goes_on = length == PAYLOAD_BYTES_MAX;
        HEADER_BYTES
    }

    fn pass(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        self.left -= bytes.len();
        if self.keeps_first && self.rows == 1 && self.results == 0 {
            if self.first.len() + bytes.len() > ROW_BYTES_MAX {
                return Err(Lost::bad("a row of more than 1 GiB"));
            }
            self.first.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn is_row(&self, first: u8, length: usize) -> Result<bool, Lost> {
        let end_bytes_max = if self.agreed.ends_with_ok { PAYLOAD_BYTES_MAX } else { END_BYTES_MAX };
        match first {
            ERROR if length < PAYLOAD_BYTES_MAX => Ok(false),
            END if length < end_bytes_max => Ok(false),
            _ if length == 0 => Err(Lost::bad("an empty row")),
            _ if self.is_binary() && first != 0 => Err(Lost::bad("a row that is none")),
            _ => Ok(true),
        }
    }

    /// Reads a packet that is no row.
    fn read(&mut self, payload: &[u8]) -> Result<(), Lost> {
        let Some(&first) = payload.first() else { return Err(Lost::bad("an empty packet")) };
        if first == ERROR {
            self.refusal = Some(Box::new(ServerError::read(payload)?.refusal()));
            self.stage = Stage::Done;
            return Ok(());
        }
        match self.stage {
            Stage::Start => self.read_start(first, payload),
            Stage::Definitions { left, then } => {
                if self.keeps_first && self.results == 0 && self.form != Form::Prepared {
                    let column = Column::read(payload, self.agreed.has_formats);
                    self.columns.push(column.ok_or_else(|| Lost::bad("the definition of a column is cut"))?);
                }
                self.stage = Stage::Definitions { left: left - 1, then };
                if left == 1 {
                    self.defined(then);
                }
                Ok(())
            }
            Stage::DefinitionsEnd { then } if first == END && payload.len() < END_BYTES_MAX => {
                self.define(then);
                Ok(())
            }
            Stage::Rows if self.agreed.ends_with_ok => self.read_ok(payload),
            Stage::Rows => {
                let mut fields = Fields(&payload[1..]);
                let status = fields.u16().and_then(|_| fields.u16());
                self.end(status.ok_or_else(|| Lost::bad("the end of rows is cut"))?);
                Ok(())
            }
            Stage::DefinitionsEnd { .. } | Stage::Done => Err(Lost::bad("a packet that nothing calls for")),
        }
    }

    fn read_start(&mut self, first: u8, payload: &[u8]) -> Result<(), Lost> {
        let bad = || Lost::bad("the beginning of a reply that is none");
        if self.form == Form::Prepared {
            let mut fields = Fields(payload.get(1..).unwrap_or_default());
            let (Some(id), Some(columns), Some(parameters)) = (fields.u32(), fields.u16(), fields.u16())
            else {
                return Err(bad());
            };
            if first != OK {
                return Err(bad());
            }
            self.prepared = (id, parameters);
            if parameters > 0 {
                self.stage = Stage::Definitions { left: u64::from(parameters), then: u64::from(columns) };
            } else {
                self.define(u64::from(columns));
            }
            return Ok(());
        }
        match first {
            OK => self.read_ok(payload),
            LOCAL_FILE => Err(Lost::bad("the server asks for a file of this machine")),
            _ => {
                let mut fields = Fields(payload);
                let columns = fields.integer().filter(|_| fields.0.is_empty()).ok_or_else(bad)?;
                if columns > COLUMNS_MAX {
                    return Err(bad());
                }
                self.stage = Stage::Definitions { left: columns, then: 0 };
                Ok(())
            }
        }
    }

    /// After the last definition of a list.
    fn defined(&mut self, then: u64) {
        if self.agreed.ends_with_ok {
            self.define(then);
        } else {
            self.stage = Stage::DefinitionsEnd { then };
        }
    }

    /// What follows a list of definitions.
    fn define(&mut self, then: u64) {
        self.stage = match self.form {
            Form::Prepared if then > 0 => Stage::Definitions { left: then, then: 0 },
            Form::Prepared => Stage::Done,
            Form::Text | Form::Binary => Stage::Rows,
        };
    }

    fn read_ok(&mut self, payload: &[u8]) -> Result<(), Lost> {
        let mut fields = Fields(&payload[1..]);
        let (affected, _, status) = (fields.integer(), fields.integer(), fields.u16());
        let (Some(affected), Some(status)) = (affected, status) else {
            return Err(Lost::bad("an OK that is cut"));
        };
        // The end of rows says how many there were.
        if self.stage == Stage::Start {
            self.affected = self.affected.saturating_add(affected);
        }
        self.end(status);
        Ok(())
    }

    fn end(&mut self, status: u16) {
        self.status = status;
        self.results += 1;
        self.stage = if status & MORE_RESULTS == 0 { Stage::Done } else { Stage::Start };
    }
}
