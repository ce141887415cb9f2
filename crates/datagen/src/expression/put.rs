//! Owns how the value of an expression is appended. Values are within values, so that this and `calculate` call each other.

use brimline_bson::{ElementType, Writer};

use super::calculate;
use super::draw::Draw;
use super::node::{Expression, Moment, Node, Part, Place, UNNAMED_HEAD};
use super::parts::{self, placed, put_array, put_placed, put_raw};
use super::path::{self, Path};
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
        self.put_node(
            &expression.node,
            name.borrow(),
            &Moment { draw, place: Place::ONLY, named: Place::ONLY, element: None },
            out,
        )
    }

    pub(super) fn put_node(
        &self,
        node: &Node,
        name: Name<'_>,
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let draw = moment.draw;
        let mut sink = BsonSink(out);
        match node {
            Node::Constant { type_byte, value } => sink.encoded(name, *type_byte, value),
            Node::Shared(expression) if moment.place == moment.named => {
                return self.put_node(&expression.node, name, moment, out);
            }
            Node::Generator { generator, random } => {
                generator.put(
                    name,
                    moment.sequence(),
                    &mut random.at_item(draw.index, moment.place.item),
                    &mut sink,
                );
            }
            Node::Saved { slot, path } => put_raw(draw.saved.get(*slot as usize), path, name, &mut sink),
            Node::Row { table, path } => {
                let first = draw.rows.get(*table as usize).copied().unwrap_or(0);
                let row = self.tables[*table as usize].row(first, draw.index, moment.place.item);
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
                let behind = distance.draw(&mut random.at_item(draw.index, moment.place.item), 0);
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
                id[6..].copy_from_slice(&self.object_ids.number(draw.index, *place, moment.place.item));
                sink.object_id(name, id);
            }
            Node::Shared(_)
            | Node::Document(_)
            | Node::List(_)
            | Node::OneOf { .. }
            | Node::Calculate { .. }
            | Node::Repeated { .. }
            | Node::Several(_)
            | Node::Map { .. }
            | Node::Item { .. }
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
        moment: &Moment<'_, '_>,
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
                    let place = moment.place.within(item, *count);
                    let moment = Moment { place, named: place, ..*moment };
                    self.put_node(of, names.of(item), &moment, out)
                })
            }),
            Node::OneOf { values, cumulative, random } => {
                let draw = random.at_item(moment.draw.index, moment.place.item).next_f64();
                let at = draw * cumulative[cumulative.len() - 1];
                let place = cumulative.partition_point(|&sum| sum <= at).min(values.len() - 1);
                self.put_node(&values[place], name, moment, out)
            }
            Node::Shared(expression) => {
                let moment = Moment { place: moment.named, ..*moment };
                self.put_node(&expression.node, name, &moment, out)
            }
            Node::Several(several) => self.put_several(several, name, moment, out),
            Node::Map { over, of } => self.put_map(over, of, name, moment, out),
            Node::Item { level, path } => {
                parts::put_item(*level, path, name, moment, out);
                Ok(())
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
        moment: &Moment<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let start = out.len();
        self.put_node(of, Name::NONE, moment, out)?;
        let whole_end = out.len();
        let part = path::find((out[start], &out[start + UNNAMED_HEAD..]), path);
        let part = placed(part, out);
        put_placed(part, name, out);
        out.drain(start..whole_end);
        Ok(())
    }
}

fn new_record(collection: u32, moment: &Moment<'_, '_>) -> u64 {
    let first = moment.draw.new_records.get(collection as usize).copied().unwrap_or(0);
    first + u64::from(moment.place.item.saturating_sub(1))
}
