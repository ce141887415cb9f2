//! What operators make of other values. Numbers keep MongoDB's types: of 32-bit integers comes one, of larger ones a 64-bit integer, of a sum
//! that doesn't fit, or of a double, a double. Null makes null, as in MongoDB's own expressions.

mod check;
mod lists;
mod numbers;
mod operand;
mod texts;

pub(super) use self::check::check;
use self::numbers::Number;
pub(super) use self::operand::Operand;
use super::dates::{DatePart, Unit};
use super::node::{Expression, Moment, Node, UNNAMED_HEAD};
use super::operator::Operator;
use super::{Misfit, World};
use crate::sink::BsonSink;
use crate::{Name, Sink};

/// Bytes of a string besides its text: length and NUL.
const STRING_BYTES: u64 = 5;
/// Upper bound of the text of a double in full.
const NUMBER_TEXT_BYTES: u64 = 350;

/// Upper bound of the bytes of what an operator makes.
pub(super) fn bytes_max(operator: Operator, of: &[Expression]) -> u64 {
    match operator {
        Operator::Concat => of
            .iter()
            .fold(STRING_BYTES, |sum, part| sum.saturating_add(part.bytes_max.max(NUMBER_TEXT_BYTES))),
        Operator::Lower | Operator::Upper | Operator::Trim | Operator::Substring => of[0].bytes_max,
        Operator::Join => STRING_BYTES + lists::JOIN_BYTES_MAX as u64,
        Operator::Ngrams => lists::NGRAMS_BYTES_MAX as u64,
        Operator::Element => of[0].bytes_max.max(8),
        Operator::Text => STRING_BYTES + of[0].bytes_max.max(NUMBER_TEXT_BYTES),
        _ => 8,
    }
}

/// Appends what `operator` makes of `of`. Operands are made behind the end of `out` and taken away again.
pub(super) fn put(
    world: &World,
    operator: Operator,
    of: &[Node],
    name: Name<'_>,
    moment: &Moment<'_, '_>,
    out: &mut Vec<u8>,
) -> Result<(), Misfit> {
    let calculation = Calculation { world, operator, moment };
    let made = match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Modulo => {
            calculation.fold_numbers(of, out)?.map(Operand::Number)
        }
        Operator::Min | Operator::Max => calculation.extreme(of, out)?,
        Operator::Round => calculation.round(of, out)?.map(Operand::Number),
        Operator::Abs => calculation.number(&of[0], out)?.map(Number::absolute).map(Operand::Number),
        Operator::Between => calculation.between(of, out)?,
        Operator::Int | Operator::Long | Operator::Double => {
            calculation.converted(&of[0], out)?.map(Operand::Number)
        }
        Operator::DateAdd | Operator::DateTrunc | Operator::DateCeil | Operator::DatePart => {
            calculation.date(of, out)?
        }
        Operator::Concat
        | Operator::Text
        | Operator::Lower
        | Operator::Upper
        | Operator::Trim
        | Operator::Substring => return calculation.put_text(of, name, out),
        Operator::Join => return calculation.put_joined(of, name, out),
        Operator::Ngrams => return calculation.put_ngrams(of, name, out),
        Operator::Element => return calculation.put_element(of, name, out),
    };
    match made {
        Some(Operand::Number(number)) => number.put(name, out),
        Some(Operand::Date(unix_ms)) => BsonSink(out).date_time(name, unix_ms),
        _ => BsonSink(out).null(name),
    }
    Ok(())
}

/// An operator at work.
#[derive(Clone, Copy)]
struct Calculation<'m, 'd> {
    world: &'m World,
    operator: Operator,
    moment: &'m Moment<'m, 'd>,
}

impl Calculation<'_, '_> {
    fn misfit(self, found: &'static str) -> Misfit {
        Misfit { operator: self.operator.name(), found }
    }

    /// Makes an operand behind the end of `out`, and hands it to `read` before it is gone.
    fn operand<R>(
        self,
        node: &Node,
        out: &mut Vec<u8>,
        read: impl FnOnce(Operand<'_>) -> R,
    ) -> Result<R, Misfit> {
        let start = out.len();
        self.world.put_node(node, Name::NONE, self.moment, out)?;
        let result = read(Operand::new(out[start], &out[start + UNNAMED_HEAD..]));
        out.truncate(start);
        Ok(result)
    }

    /// A number; `None`: null.
    fn number(self, node: &Node, out: &mut Vec<u8>) -> Result<Option<Number>, Misfit> {
        self.operand(node, out, |operand| match operand {
            Operand::Number(number) => Ok(Some(number)),
            Operand::Null => Ok(None),
            other => Err(self.misfit(other.name())),
        })?
    }

    fn fold_numbers(self, of: &[Node], out: &mut Vec<u8>) -> Result<Option<Number>, Misfit> {
        let Some(mut result) = self.number(&of[0], out)? else { return Ok(None) };
        for node in &of[1..] {
            let Some(number) = self.number(node, out)? else { return Ok(None) };
            result = match self.operator {
                Operator::Add => result.add(number),
                Operator::Subtract => result.subtract(number),
                Operator::Multiply => result.multiply(number),
                Operator::Divide => result.divide(number).ok_or_else(|| self.misfit("a division by zero"))?,
                _ => result.modulo(number).ok_or_else(|| self.misfit("a division by zero"))?,
            };
        }
        Ok(Some(result))
    }

    /// The least or the greatest of numbers, or of dates.
    fn extreme(self, of: &[Node], out: &mut Vec<u8>) -> Result<Option<Operand<'static>>, Misfit> {
        let mut found: Option<Operand<'static>> = None;
        for node in of {
            let operand = self.operand(node, out, |operand| match operand {
                Operand::Number(number) => Ok(Some(Operand::Number(number))),
                Operand::Date(unix_ms) => Ok(Some(Operand::Date(unix_ms))),
                Operand::Null => Ok(None),
                other => Err(self.misfit(other.name())),
            })??;
            let Some(operand) = operand else { return Ok(None) };
            let is_further = match found {
                None => true,
                Some(before) if self.operator == Operator::Min => self.is_below(operand, before)?,
                Some(before) => self.is_below(before, operand)?,
            };
            if is_further {
                found = Some(operand);
            }
        }
        Ok(found)
    }

    fn is_below(self, one: Operand<'_>, other: Operand<'_>) -> Result<bool, Misfit> {
        match (one, other) {
            (Operand::Number(one), Operand::Number(other)) => Ok(one.is_below(other)),
            (Operand::Date(one), Operand::Date(other)) => Ok(one < other),
            _ => Err(self.misfit("numbers and dates")),
        }
    }

    fn round(self, of: &[Node], out: &mut Vec<u8>) -> Result<Option<Number>, Misfit> {
        let Some(number) = self.number(&of[0], out)? else { return Ok(None) };
        let decimals = match of.get(1) {
            Some(node) => self.number(node, out)?,
            None => Some(Number::Int32(0)),
        };
        let Some(decimals) = decimals else { return Ok(None) };
        let decimals = decimals.integer().filter(|decimals| (-20..=100).contains(decimals));
        let decimals = decimals.ok_or_else(|| self.misfit("decimals beyond -20 to 100"))?;
        Ok(Some(number.round(decimals as i32)))
    }

    fn converted(self, of: &Node, out: &mut Vec<u8>) -> Result<Option<Number>, Misfit> {
        self.operand(of, out, |operand| {
            let number = match operand {
                Operand::Null => return Ok(None),
                Operand::Number(number) => Some(number),
                Operand::Boolean(value) => Some(Number::Int32(i32::from(value))),
                Operand::Date(unix_ms) => Some(Number::Int64(unix_ms)),
                Operand::Text(text) => numbers::parsed(text),
                Operand::ObjectId(_) | Operand::Other(_) => None,
            };
            let converted = number.and_then(|number| match self.operator {
                Operator::Int => {
                    number.integer().and_then(|value| i32::try_from(value).ok()).map(Number::Int32)
                }
                Operator::Long => number.integer().map(Number::Int64),
                _ => Some(Number::Double(number.double())),
            });
            converted.map(Some).ok_or_else(|| self.misfit(operand.name()))
        })?
    }

    /// What lies between two numbers or two dates, at the share that the third operand is.
    fn between(self, of: &[Node], out: &mut Vec<u8>) -> Result<Option<Operand<'static>>, Misfit> {
        let (Some(low), Some(high)) = (self.extreme(&of[..1], out)?, self.extreme(&of[1..2], out)?) else {
            return Ok(None);
        };
        if self.is_below(high, low)? {
            return Err(self.misfit("a range that ends before it begins"));
        }
        let share = self.number(&of[2], out)?.map_or(0.0, Number::double);
        Ok(match (low, high) {
            (Operand::Number(low), Operand::Number(high)) => Some(Operand::Number(low.between(high, share))),
            (Operand::Date(low), Operand::Date(high)) => {
                Some(Operand::Date(numbers::between(low, high, share)))
            }
            _ => None,
        })
    }

    /// A date, or a part of one; `None`: null.
    fn date(self, of: &[Node], out: &mut Vec<u8>) -> Result<Option<Operand<'static>>, Misfit> {
        let date = self.operand(&of[0], out, |operand| match operand {
            Operand::Date(unix_ms) => Ok(Some(unix_ms)),
            Operand::Null => Ok(None),
            other => Err(self.misfit(other.name())),
        })??;
        if self.operator == Operator::DateAdd {
            let unit = match of.get(2) {
                Some(unit) => self.unit(unit, out)?,
                None => Unit::Fixed(1),
            };
            let by = self.number(&of[1], out)?;
            let by = by
                .map(|by| by.integer().ok_or_else(|| self.misfit("a number beyond 64 bits")))
                .transpose()?;
            return Ok(date.zip(by).map(|(date, by)| Operand::Date(unit.later(date, by))));
        }
        let Some(date) = date else { return Ok(None) };
        Ok(Some(match self.operator {
            Operator::DatePart => {
                let part = self.operand(&of[1], out, |operand| match operand {
                    Operand::Text(name) => DatePart::named(name),
                    _ => None,
                })?;
                let part = part.ok_or_else(|| self.misfit("an unknown part"))?;
                Operand::Number(Number::Int32(part.of(date)))
            }
            Operator::DateCeil => Operand::Date(self.unit(&of[1], out)?.end(date)),
            _ => Operand::Date(self.unit(&of[1], out)?.start(date)),
        }))
    }

    fn unit(self, node: &Node, out: &mut Vec<u8>) -> Result<Unit, Misfit> {
        let unit = self.operand(node, out, |operand| match operand {
            Operand::Text(name) => Unit::named(name),
            _ => None,
        })?;
        unit.ok_or_else(|| self.misfit("an unknown unit"))
    }
}
