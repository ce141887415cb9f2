//! The values of a request, one after the other.

use brimline_bson::{RawElement, Reader};

use super::{Misfit, Part, encode};

/// Reads the values of a step. Requests name them in order, nearly always, so that all are walked over once.
pub struct Slots<'v> {
    values: &'v [u8],
    reader: Option<Reader<'v>>,
    /// The last that was read, and its number.
    last: Option<(u32, RawElement<'v>)>,
}

impl<'v> Slots<'v> {
    /// Of `values`, a BSON array.
    pub fn new(values: &'v [u8]) -> Self {
        Self { values, reader: None, last: None }
    }

    /// Appends parts with their values.
    pub fn append(&mut self, parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
        for part in parts {
            match *part {
                Part::Text(ref text) => out.extend_from_slice(text),
                Part::Slot(slot, encoding) => encode::append(&self.value(slot)?.value(), encoding, out),
            }
        }
        Ok(())
    }

    fn value(&mut self, slot: u32) -> Result<RawElement<'v>, Misfit> {
        match self.last {
            Some((at, element)) if at == slot => return Ok(element),
            Some((at, _)) if at < slot => {}
            _ => {
                self.last = None;
                self.reader = Some(Reader::new(self.values).map_err(|error| Misfit::new(error.to_string()))?);
            }
        }
        let reader = self.reader.as_mut().ok_or_else(|| missing(slot))?;
        loop {
            let element = reader.next_raw().map_err(|error| Misfit::new(error.to_string()))?;
            let element = element.ok_or_else(|| missing(slot))?;
            let at = self.last.map_or(0, |(at, _)| at + 1);
            self.last = Some((at, element));
            if at == slot {
                return Ok(element);
            }
        }
    }
}

#[cold]
fn missing(slot: u32) -> Misfit {
    Misfit::new(format!("the step has no value {slot}"))
}
