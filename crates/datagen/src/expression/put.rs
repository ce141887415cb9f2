//! Owns how the value of an expression is appended. Values are within values, so that this and `calculate` call each other.

use brimline_bson::{ElementType, Writer};

use super::calculate;
use super::draw::Draw;
use super::node::{Expression, Moment, Node, Part, UNNAMED_HEAD};
use super::path::{self, Path, RawValue};
use super::{Misfit, World};
use crate::sink::{BsonSink, ElementName, ItemName};
use crate::{Name, Sink};

impl World {
    /// Appends the value of `expression` as an element called `name`. Nothing is allocated beyond `out`.
    ///
    /// # Errors
    /// When what a reply brought, or a row holds, is nothing that can be calculated with. `out` then ends anywhere.
    #[inline]
    pub fn put(
        &self,
        expression: &Expression,
        name: &ElementName,
        draw: &Draw<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        self.put_node(&expression.node, name.borrow(), Moment { draw, item: 0, items: 1 }, out)
    }

    pub(super) fn put_node(
        &self,
        node: &Node,
        name: Name<'_>,
        moment: Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let draw = moment.draw;
        let mut sink = BsonSink(out);
        match node {
            Node::Constant { type_byte, value } => sink.encoded(name, *type_byte, value),
            Node::Shared(expression) => return self.put_node(&expression.node, name, moment, out),
            Node::Generator { generator, random } => {
                generator.put(
                    name,
                    moment.sequence(),
                    &mut random.at_item(draw.index, moment.item),
                    &mut sink,
                );
            }
            Node::Saved { slot, path } => put_raw(draw.saved.get(*slot as usize), path, name, &mut sink),
            Node::Row { table, path } => {
                let first = draw.rows.get(*table as usize).copied().unwrap_or(0);
                let row = self.tables[*table as usize].row(first, draw.index, moment.item);
                put_raw(Some(row), path, name, &mut sink);
            }
            Node::NewKey { collection } => {
                let record = new_record(*collection, moment);
                sink.string(name, |out| self.documents[*collection as usize].write_key(record, out));
            }
            Node::NewRecord { collection } => {
                sink.name(ElementType::Document, name);
                self.documents[*collection as usize].append_document(new_record(*collection, moment), out);
            }
            Node::LatestKey { collection, distance, random } => {
                let behind = distance.draw(&mut random.at_item(draw.index, moment.item), 0);
                let newest = draw.newest.get(*collection as usize).copied().unwrap_or(0);
                let record = newest.saturating_sub(behind);
                sink.string(name, |out| self.documents[*collection as usize].write_key(record, out));
            }
            Node::Now => sink.date_time(name, draw.now_unix_ms),
            Node::Run => sink.string(name, |out| out.extend_from_slice(draw.run.text().as_bytes())),
            Node::Worker => sink.int32(name, draw.worker as i32),
            Node::Number => sink.int64(name, moment.number() as i64),
            Node::ObjectId { place } => {
                let mut id = [0; 12];
                id[..6].copy_from_slice(&draw.run.object_id_head());
                id[6..].copy_from_slice(&self.object_ids.number(draw.index, *place, moment.item));
                sink.object_id(name, id);
            }
            Node::Document(_)
            | Node::List(_)
            | Node::OneOf { .. }
            | Node::Calculate { .. }
            | Node::Repeated { .. }
            | Node::Within { .. } => return self.put_compound(node, name, moment, out),
        }
        Ok(())
    }

    /// Out of line, so that what values are mostly made of stays short.
    #[inline(never)]
    fn put_compound(
        &self,
        node: &Node,
        name: Name<'_>,
        moment: Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        match node {
            Node::Document(parts) => {
                BsonSink(out).name(ElementType::Document, name);
                let open = Writer::new(out).begin_document();
                for part in parts {
                    match part {
                        Part::Encoded(elements) => out.extend_from_slice(elements),
                        Part::Field(name, node) => self.put_node(node, name.borrow(), moment, out)?,
                    }
                }
                Writer::new(out).end_document(open);
                Ok(())
            }
            Node::List(items) => put_array(name, out, |out| {
                let mut names = ItemName::default();
                (0..).zip(items).try_for_each(|(item, node)| self.put_node(node, names.of(item), moment, out))
            }),
            Node::Repeated { count, of } => put_array(name, out, |out| {
                let mut names = ItemName::default();
                (0..*count).try_for_each(|item| {
                    let moment = Moment { item: item + 1, items: *count, ..moment };
                    self.put_node(of, names.of(item), moment, out)
                })
            }),
            Node::OneOf { values, cumulative, random } => {
                let draw = random.at_item(moment.draw.index, moment.item).next_f64();
                let at = draw * cumulative[cumulative.len() - 1];
                let place = cumulative.partition_point(|&sum| sum <= at).min(values.len() - 1);
                self.put_node(&values[place], name, moment, out)
            }
            Node::Within { of, path } => self.put_within(of, path, name, moment, out),
            Node::Calculate { operator, of } => calculate::put(self, *operator, of, name, moment, out),
            _ => Ok(()),
        }
    }

    /// Makes the whole value behind the end of `out`, and keeps the part.
    fn put_within(
        &self,
        of: &Node,
        path: &Path,
        name: Name<'_>,
        moment: Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let start = out.len();
        self.put_node(of, Name::NONE, moment, out)?;
        let whole_end = out.len();
        let (type_byte, value) = (out[start], &out[start + UNNAMED_HEAD..]);
        let (type_byte, value) = match path::find((type_byte, value), path) {
            Some((type_byte, part)) => {
                let offset = part.as_ptr() as usize - out.as_ptr() as usize;
                (type_byte, offset..offset + part.len())
            }
            None => (ElementType::Null as u8, 0..0),
        };
        BsonSink(out).encoded(name, type_byte, &[]);
        out.extend_from_within(value);
        out.drain(start..whole_end);
        Ok(())
    }
}

fn new_record(collection: u32, moment: Moment<'_, '_>) -> u64 {
    let first = moment.draw.new_records.get(collection as usize).copied().unwrap_or(0);
    first + u64::from(moment.item.saturating_sub(1))
}

fn put_raw(value: Option<RawValue<'_>>, path: &Path, name: Name<'_>, sink: &mut BsonSink<'_>) {
    match value.and_then(|value| path::find(value, path)) {
        Some((type_byte, bytes)) => sink.encoded(name, type_byte, bytes),
        None => sink.null(name),
    }
}

fn put_array(
    name: Name<'_>,
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    BsonSink(out).name(ElementType::Array, name);
    let open = Writer::new(out).begin_document();
    put(out)?;
    Writer::new(out).end_document(open);
    Ok(())
}
