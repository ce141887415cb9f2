//! Requests that are encoded once and then only completed: a body with slots for what differs between operations. The
//! lengths of the message, of the documents around a slot and of a document sequence are patched when it is rendered.

use brimline_bson::{OpenDocument, Writer};

use crate::frame::{HEADER_BYTES, Header, OP_MSG};
use crate::op_msg::{CHECKSUM_PRESENT, KIND_BODY, KIND_SEQUENCE, SECTIONS_OFFSET};

/// Most slots of one template. One slot takes any number of elements, so that commands need few; one less than a power of two,
/// so that a slot's number is an index that needs no check.
pub const SLOT_COUNT_MAX: usize = 7;

const REQUEST_ID_OFFSET: usize = 4;

/// A pre-encoded request.
///
/// ```
/// use brimline_wire::template::TemplateBuilder;
/// let find = TemplateBuilder::new()
///     .fixed(|writer| writer.string("find", "usertable"))
///     .begin_subdocument("filter")
///     .slot()
///     .end()
///     .fixed(|writer| writer.string("$db", "ycsb"))
///     .finish(0);
/// let mut message = Vec::new();
/// find.render(1, &mut message, |_slot, writer| writer.string("_id", "user6284781860667377211"));
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    /// A whole message with empty slots, its lengths right for them.
    message: Box<[u8]>,
    /// Where the slots are in `message`, ascending.
    slots: Box<[usize]>,
    /// The documents that hold a slot.
    patches: Box<[Patch]>,
}

/// A document whose length depends on what is put into the slots `slots_begin..slots_end`.
#[derive(Clone, Copy, Debug)]
struct Patch {
    offset: usize,
    slots_begin: usize,
    slots_end: usize,
}

/// Builds a [`Template`] from front to back.
#[derive(Debug)]
pub struct TemplateBuilder {
    message: Vec<u8>,
    slots: Vec<usize>,
    /// Documents that are not ended, outermost first, and how many slots came before each.
    open: Vec<(OpenDocument, usize)>,
    patches: Vec<Patch>,
}

impl Default for TemplateBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TemplateBuilder {
    /// Starts with an empty body.
    pub fn new() -> Self {
        let mut message = vec![0; SECTIONS_OFFSET];
        message.push(KIND_BODY);
        let body = Writer::new(&mut message).begin_document();
        Self { message, slots: Vec::new(), open: vec![(body, 0)], patches: Vec::new() }
    }

    /// Appends elements that are the same in every request.
    pub fn fixed(&mut self, elements: impl FnOnce(&mut Writer<'_>)) -> &mut Self {
        elements(&mut Writer::new(&mut self.message));
        self
    }

    /// Where the next byte will be in every rendered message.
    ///
    /// # Panics
    /// Behind a slot, where that depends on what the slot is filled with.
    pub fn fixed_position(&self) -> usize {
        assert!(self.slots.is_empty(), "what follows a slot has no fixed position");
        self.message.len()
    }

    /// Opens the document `name`.
    pub fn begin_subdocument(&mut self, name: &str) -> &mut Self {
        let document = Writer::new(&mut self.message).begin_subdocument(name);
        self.open.push((document, self.slots.len()));
        self
    }

    /// Opens the array `name`; its elements are named "0", "1" …
    pub fn begin_array(&mut self, name: &str) -> &mut Self {
        let array = Writer::new(&mut self.message).begin_array(name);
        self.open.push((array, self.slots.len()));
        self
    }

    /// Ends the document or array that was opened last.
    ///
    /// # Panics
    /// When none is open.
    pub fn end(&mut self) -> &mut Self {
        assert!(self.open.len() > 1, "end() without a begin");
        self.end_innermost();
        self
    }

    /// Leaves a place for elements that are known only when a request is rendered. Slots are numbered from 0.
    ///
    /// # Panics
    /// When there are more than [`SLOT_COUNT_MAX`].
    pub fn slot(&mut self) -> &mut Self {
        assert!(self.slots.len() < SLOT_COUNT_MAX, "a template has at most {SLOT_COUNT_MAX} slots");
        self.slots.push(self.message.len());
        self
    }

    /// Ends the body. `flags` are `OP_MSG`'s, such as [`MORE_TO_COME`](crate::op_msg::MORE_TO_COME), mostly 0. The builder
    /// is left as [`TemplateBuilder::new`] makes it.
    ///
    /// # Panics
    /// When a document is still open, or when a checksum is asked for.
    pub fn finish(&mut self, flags: u32) -> Template {
        assert!(self.open.len() == 1, "finish() with an open document");
        assert!(flags & CHECKSUM_PRESENT == 0, "a template has no checksum");
        self.end_innermost();
        let mut built = std::mem::take(self);
        let header =
            Header { message_bytes: built.message.len(), request_id: 0, response_to: 0, opcode: OP_MSG };
        built.message[..HEADER_BYTES].copy_from_slice(&header.encode());
        built.message[HEADER_BYTES..SECTIONS_OFFSET].copy_from_slice(&flags.to_le_bytes());
        Template { message: built.message.into(), slots: built.slots.into(), patches: built.patches.into() }
    }

    fn end_innermost(&mut self) {
        let Some((document, slots_begin)) = self.open.pop() else {
            return;
        };
        if self.slots.len() > slots_begin {
            self.patches.push(Patch { offset: document.offset(), slots_begin, slots_end: self.slots.len() });
        }
        Writer::new(&mut self.message).end_document(document);
    }
}

impl Template {
    /// Appends a whole message to `out`; `fill` is called for each slot in order and appends its elements.
    pub fn render(&self, request_id: i32, out: &mut Vec<u8>, fill: impl FnMut(usize, &mut Writer<'_>)) {
        let start = out.len();
        self.append_body(request_id, out, fill);
        set_length(out, start);
    }

    /// Like [`Template::render`], followed by a document sequence: `documents` appends whole documents that stand for
    /// the array `sequence_name` of the command, such as `documents` of an insert.
    pub fn render_with_documents(
        &self,
        request_id: i32,
        out: &mut Vec<u8>,
        fill: impl FnMut(usize, &mut Writer<'_>),
        sequence_name: &str,
        documents: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = out.len();
        self.append_body(request_id, out, fill);
        out.push(KIND_SEQUENCE);
        let sequence = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(sequence_name.as_bytes());
        out.push(0);
        documents(out);
        set_length(out, sequence);
        set_length(out, start);
    }

    #[inline]
    fn append_body(&self, request_id: i32, out: &mut Vec<u8>, mut fill: impl FnMut(usize, &mut Writer<'_>)) {
        let start = out.len();
        // filled[i] is how many bytes the slots before slot i have taken.
        let mut filled = [0_u32; SLOT_COUNT_MAX + 1];
        let filled_before = |filled: &[u32; SLOT_COUNT_MAX + 1], slot: usize| filled[slot & SLOT_COUNT_MAX];
        let mut copied = 0;
        for (slot, &offset) in self.slots.iter().enumerate() {
            out.extend_from_slice(&self.message[copied..offset]);
            copied = offset;
            let before = out.len();
            fill(slot, &mut Writer::new(out));
            filled[(slot + 1) & SLOT_COUNT_MAX] = filled_before(&filled, slot) + (out.len() - before) as u32;
        }
        out.extend_from_slice(&self.message[copied..]);

        let message = &mut out[start..];
        set_u32(message, REQUEST_ID_OFFSET, request_id as u32);
        for patch in &self.patches {
            let before = filled_before(&filled, patch.slots_begin);
            let grown = filled_before(&filled, patch.slots_end) - before;
            add_to_length(message, patch.offset + before as usize, grown);
        }
    }
}

/// Sets the length field at `offset` so that it reaches to the end of `bytes`.
#[inline]
fn set_length(bytes: &mut [u8], offset: usize) {
    let length = bytes.len() - offset;
    set_u32(bytes, offset, length as u32);
}

#[inline]
fn add_to_length(bytes: &mut [u8], offset: usize, grown: u32) {
    let field = &mut bytes[offset..offset + 4];
    let length = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
    field.copy_from_slice(&(length + grown).to_le_bytes());
}

#[inline]
fn set_u32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}
