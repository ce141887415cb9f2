//! Owns lists of values that are drawn anew for each item, and lists that are made of others.

use brimline_bson::{ElementType, Reader, Writer};

use super::calculate::Operand;
use super::node::{Element, Expression, Moment, Node, Several, UNNAMED_HEAD, compound, digits};
use super::parts::put_array;
use super::spec::SEVERAL_MAX;
use super::types::Types;
use super::{Misfit, World};
use crate::sink::{BsonSink, ItemName};
use crate::{Name, Sink, SpecError};

const LENGTH_BYTES: usize = 4;
const REPEAT: &str = "repeat";
const MAP: &str = "map";

/// A list of as many values as the first of `parts` says, each the second one, or a document whose keys are the third one.
pub(super) fn several(mut parts: Vec<Expression>, count_max: u32) -> Result<Expression, SpecError> {
    require(&parts[0], "count", Types::NUMBER, "a number")?;
    if let Some(key) = parts.get(2) {
        require(key, "key", Types::TEXT, "text")?;
    }
    let item_bytes =
        parts[1..].iter().fold(2 + digits(count_max), |sum, part| sum.saturating_add(part.bytes_max));
    let bytes_max = item_bytes.saturating_mul(count_max.into()).saturating_add(5);
    let key = (parts.len() > 2).then(|| take(&mut parts[2]));
    let node = Several { count: take(&mut parts[0]), count_max, of: take(&mut parts[1]), key };
    let types = if node.key.is_some() { Types::DOCUMENT } else { Types::LIST };
    list(Node::Several(Box::new(node)), types, bytes_max, &parts, count_max)
}

/// A list of what the second of `parts` makes of each element of the first one.
pub(super) fn map(mut parts: Vec<Expression>) -> Result<Expression, SpecError> {
    require(&parts[0], "over", Types::LIST, "a list")?;
    // Of how many elements, nothing says before a run.
    let bytes_max = parts[1].bytes_max.saturating_add(5);
    let node = Node::Map { over: Box::new(take(&mut parts[0])), of: Box::new(take(&mut parts[1])) };
    list(node, Types::LIST.or(Types::NULL), bytes_max, &parts, SEVERAL_MAX)
}

fn take(part: &mut Expression) -> Node {
    std::mem::replace(&mut part.node, Node::Now)
}

fn require(part: &Expression, name: &str, taken: Types, words: &str) -> Result<(), SpecError> {
    if part.types.and(taken.or(Types::NULL)).is_empty() {
        return Err(SpecError::new(name, format!("must be {words}, not {}", part.types.name())));
    }
    Ok(())
}

/// Its first part is evaluated once, the others for each item.
fn list(
    node: Node,
    types: Types,
    bytes_max: u64,
    parts: &[Expression],
    count_max: u32,
) -> Result<Expression, SpecError> {
    let items = &parts[1..];
    if items.iter().any(|part| part.uses.takes_in_turn) {
        let message = "must not take new records, or rows in turn; name the value, or take rows at random";
        return Err(SpecError::new("of", message));
    }
    let mut made = compound(node, types, bytes_max, parts);
    let cost = items.iter().fold(1_u64, |sum, part| sum.saturating_add(part.cost));
    made.cost = cost.saturating_mul(count_max.into()).saturating_add(parts[0].cost);
    let within = items.iter().map(|part| part.uses.several).max().unwrap_or(0);
    // What its values cost is bounded, and no less than their number, so that 32 bits count them.
    made.uses.several = made.uses.several.max(count_max.saturating_mul(within.max(1)));
    Ok(made)
}

impl World {
    pub(super) fn put_several(
        &self,
        several: &Several,
        name: Name<'_>,
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let Several { count, count_max, of, key } = several;
        let Some(count) = self.count(count, *count_max, moment, out)? else {
            BsonSink(out).null(name);
            return Ok(());
        };
        let item = |number| Moment { place: moment.place.within(number, *count_max), ..*moment };
        let Some(key) = key else {
            return put_array(name, out, |out| {
                let mut names = ItemName::default();
                (0..count).try_for_each(|number| self.put_node(of, names.of(number), &item(number), out))
            });
        };
        BsonSink(out).name(ElementType::Document, name);
        let start = out.len();
        let open = Writer::new(out).begin_document();
        for number in 0..count {
            self.put_field(start, key, of, &item(number), out)?;
        }
        Writer::new(out).end_document(open);
        Ok(())
    }

    /// How many values there are to be; `None`: null.
    fn count(
        &self,
        count: &Node,
        count_max: u32,
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, Misfit> {
        let misfit = |found| Misfit { operator: REPEAT, found };
        let start = out.len();
        self.put_node(count, Name::NONE, moment, out)?;
        let found = match Operand::new(out[start], &out[start + UNNAMED_HEAD..]) {
            Operand::Null => Ok(None),
            Operand::Number(number) => {
                let count = number.integer().and_then(|number| u32::try_from(number).ok());
                count
                    .filter(|&count| count <= count_max)
                    .map(Some)
                    .ok_or_else(|| misfit("a count out of bounds"))
            }
            other => Err(misfit(other.name())),
        };
        out.truncate(start);
        found
    }

    /// Appends a field to the document that begins at `start`, unless it has one of that name.
    fn put_field(
        &self,
        start: usize,
        key: &Node,
        of: &Node,
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let misfit = |found| Err(Misfit { operator: REPEAT, found });
        let field = out.len();
        self.put_node(key, Name::NONE, moment, out)?;
        let length = match Operand::new(out[field], &out[field + UNNAMED_HEAD..]) {
            Operand::Text(text) if text.contains(&0) => return misfit("a key with a NUL"),
            Operand::Text(text) => text.len(),
            other => return misfit(other.name()),
        };
        // In place of the key as a string comes the head of the field: its type, its name, a NUL.
        let text = field + UNNAMED_HEAD + LENGTH_BYTES;
        out.copy_within(text..=text + length, field + 1);
        out.truncate(field + 1 + length + 1);
        let mut before = Reader::resumed(&out[start + LENGTH_BYTES..field]);
        while let Ok(Some(element)) = before.next_raw() {
            if *element.name == out[field + 1..field + 1 + length] {
                out.truncate(field);
                return Ok(());
            }
        }
        let value = out.len();
        self.put_node(of, Name::NONE, moment, out)?;
        out[field] = out[value];
        out.drain(value..value + UNNAMED_HEAD);
        Ok(())
    }

    pub(super) fn put_map(
        &self,
        over: &Node,
        of: &Node,
        name: Name<'_>,
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let misfit = |found| Err(Misfit { operator: MAP, found });
        let start = out.len();
        self.put_node(over, Name::NONE, moment, out)?;
        let end = out.len();
        match ElementType::from_byte(out[start]) {
            Some(ElementType::Array) => {}
            Some(ElementType::Null | ElementType::Undefined) => {
                out.truncate(start);
                BsonSink(out).null(name);
                return Ok(());
            }
            _ => return misfit(Types::of_byte(out[start]).name()),
        }
        put_array(name, out, |out| {
            let mut names = ItemName::default();
            let mut next = start + UNNAMED_HEAD + LENGTH_BYTES;
            for number in 0_u32.. {
                let Ok(Some(found)) = Reader::resumed(out.get(next..end).unwrap_or_default()).next_raw()
                else {
                    break;
                };
                if number >= SEVERAL_MAX {
                    return misfit("a list of more than 1000 elements");
                }
                let value = found.bytes();
                let from = value.as_ptr() as usize - out.as_ptr() as usize;
                next = from + value.len();
                let element =
                    Element { type_byte: found.type_byte(), start: from, end: next, outer: moment.element };
                let place = moment.place.within(number, SEVERAL_MAX);
                self.put_node(
                    of,
                    names.of(number),
                    &Moment { place, element: Some(&element), ..*moment },
                    out,
                )?;
            }
            Ok(())
        })?;
        out.drain(start..end);
        Ok(())
    }
}
