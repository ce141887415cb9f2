//! Owns what an operation brings to its values: its number, its rows, and what its replies brought.

use brimline_bson::ElementType;

/// Bits of an operation's number below those that tell the loads of a plan apart.
pub const LOAD_SHIFT: u32 = 48;

/// What the values of one operation are drawn from. Rows, records and slots stand at the place of their table, collection or value.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'d> {
    /// The number of the operation; from bit [`LOAD_SHIFT`] on that of its load.
    pub index: u64,
    /// The number of the connection.
    pub worker: u32,
    /// When the operation is sent: milliseconds since 1970.
    pub now_unix_ms: i64,
    /// The first row of each table that is taken in turn; those of `repeated` follow it.
    pub rows: &'d [u64],
    /// The first new record of each collection; those of `repeated` follow it.
    pub new_records: &'d [u64],
    /// The newest record of each collection that is known to be there.
    pub newest: &'d [u64],
    /// What replies brought.
    pub saved: &'d SavedValues,
    /// What this run is told from others by.
    pub run: &'d RunIdentity,
}

/// Values that earlier steps of an operation kept of their replies. Buffers are used again, so that after the first operations
/// nothing is allocated.
#[derive(Clone, Debug, Default)]
pub struct SavedValues {
    slots: Vec<Slot>,
}

/// A BSON value: its type's byte, 0 while there is none, and its bytes.
#[derive(Clone, Debug, Default)]
struct Slot {
    type_byte: u8,
    bytes: Vec<u8>,
}

impl SavedValues {
    /// So many empty slots.
    pub fn new(count: usize) -> Self {
        Self { slots: vec![Slot::default(); count] }
    }

    /// Keeps a value: the byte of its type and its bytes, which must be a whole BSON value.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn set(&mut self, slot: usize, type_byte: u8, bytes: &[u8]) {
        let slot = &mut self.slots[slot];
        slot.type_byte = type_byte;
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
    }

    /// Keeps a text.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn set_text(&mut self, slot: usize, text: &str) {
        let length = (text.len() as u32 + 1).to_le_bytes();
        self.set(slot, ElementType::String as u8, &length);
        let bytes = &mut self.slots[slot].bytes;
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }

    /// The type's byte and the bytes of what a slot holds.
    #[inline]
    pub fn get(&self, slot: usize) -> Option<(u8, &[u8])> {
        let slot = self.slots.get(slot)?;
        (slot.type_byte != 0).then_some((slot.type_byte, &slot.bytes))
    }

    /// Empties all slots.
    #[inline]
    pub fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.type_byte = 0);
    }
}

/// What one run is told from others by.
#[derive(Clone, Debug)]
pub struct RunIdentity {
    text: String,
    object_id_head: [u8; 6],
}

impl RunIdentity {
    /// Of a run that began so many seconds after 1970, with random bytes that no other one has.
    pub fn new(unix_s: u32, random: [u8; 8]) -> Self {
        let mut object_id_head = [0; 6];
        object_id_head[..4].copy_from_slice(&unix_s.to_be_bytes());
        object_id_head[4..].copy_from_slice(&random[..2]);
        Self { text: format!("{unix_s:08x}{:016x}", u64::from_be_bytes(random)), object_id_head }
    }

    /// The text: its time and randomness in hex.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What every object id of the run begins with.
    pub fn object_id_head(&self) -> [u8; 6] {
        self.object_id_head
    }
}
