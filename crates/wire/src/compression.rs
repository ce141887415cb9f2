//! Owns compressed messages: what a client offers, which of it a server takes, and `OP_COMPRESSED`, the message around a message.
//!
//! Source: the drivers' wire compression specification,
//! <https://github.com/mongodb/specifications/blob/master/source/compression/OP_COMPRESSED.md>.

use std::cell::RefCell;

use brimline_net::stream::BUFFER_BYTES_KEPT;
use flate2::{Compress, Compression as ZlibLevel, Decompress, FlushCompress, FlushDecompress, Status};

use crate::connection_error::ConnectionError;
use crate::frame::{HEADER_BYTES, Header, MESSAGE_BYTES_MAX, OP_COMPRESSED, OP_MSG};

/// Behind the header: the opcode and the length of what is inside, and the compressor.
const PREFIX_BYTES: usize = 4 + 4 + 1;
/// The number under which a message may be wrapped as it is.
const AS_IS: u8 = 0;

/// A way to compress messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Snappy.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

impl Compressor {
    const ALL: [Self; 3] = [Self::Snappy, Self::Zlib, Self::Zstd];

    /// As servers and connection strings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }

    fn number(self) -> u8 {
        match self {
            Self::Snappy => 1,
            Self::Zlib => 2,
            Self::Zstd => 3,
        }
    }

    fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.number() == number)
    }
}

/// What a client offers: compressors, the one it likes best first. With none, messages stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// In the order of preference.
    pub compressors: Vec<Compressor>,
    /// 0 (none) to 9 (best); `None` is zlib's own default.
    pub zlib_level: Option<u32>,
}

impl Offer {
    /// The best of those that a server names.
    pub(crate) fn best(&self, taken: &[String]) -> Option<Codec> {
        let found = self.compressors.iter().find(|each| taken.iter().any(|name| name == each.name()));
        found.map(|&compressor| Codec::new(compressor, self.zlib_level))
    }

    /// The names, for people.
    pub(crate) fn names(&self) -> String {
        self.compressors.iter().map(|each| each.name()).collect::<Vec<_>>().join(", ")
    }
}

/// Packs the requests and unpacks the replies of one connection. The compressors' own memory is the thread's, shared by its
/// connections.
#[derive(Debug)]
pub(crate) struct Codec {
    compressor: Compressor,
    zlib_level: ZlibLevel,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl Codec {
    fn new(compressor: Compressor, zlib_level: Option<u32>) -> Self {
        let zlib_level = zlib_level.map_or_else(ZlibLevel::default, ZlibLevel::new);
        Self { compressor, zlib_level, packed: Vec::new(), unpacked: Vec::new() }
    }

    /// The message that was packed last.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Wraps `message`, a whole one.
    pub(crate) fn pack(&mut self, message: &[u8]) -> Result<(), ConnectionError> {
        let header = Header::decode(message)?;
        let inside = &message[HEADER_BYTES..];
        let start = HEADER_BYTES + PREFIX_BYTES;
        if self.packed.capacity() > BUFFER_BYTES_KEPT && message.len() < self.packed.capacity() / 4 {
            self.packed = Vec::new();
        }
        let compressor = self.compressor;
        let length = TOOLS.with_borrow_mut(|tools| {
            self.packed.resize(start + Tools::length_max(compressor, inside.len()), 0);
            tools.compress(compressor, self.zlib_level, inside, &mut self.packed[start..])
        });
        self.packed.truncate(start + length.ok_or_else(|| unusable("it could not be made"))?);
        let outer = Header { message_bytes: self.packed.len(), opcode: OP_COMPRESSED, ..header };
        self.packed[..HEADER_BYTES].copy_from_slice(&outer.encode());
        self.packed[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&header.opcode.to_le_bytes());
        self.packed[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&(inside.len() as u32).to_le_bytes());
        self.packed[start - 1] = compressor.number();
        Ok(())
    }

    /// The message inside `message`; one that is not wrapped is itself. Zeroed pages that nobody writes to take no memory, so
    /// that an announced length costs nothing.
    pub(crate) fn unpack<'m>(&'m mut self, message: &'m [u8]) -> Result<&'m [u8], ConnectionError> {
        let header = Header::decode(message)?;
        if header.opcode != OP_COMPRESSED {
            return Ok(message);
        }
        let (opcode, rest) = split_u32(&message[HEADER_BYTES..])?;
        let (length, rest) = split_u32(rest)?;
        let (&number, inside) = rest.split_first().ok_or_else(|| unusable("it ends too early"))?;
        if opcode != OP_MSG as u32 {
            return Err(unusable("there is no OP_MSG inside"));
        }
        let length = length as usize;
        if length > MESSAGE_BYTES_MAX - HEADER_BYTES {
            return Err(unusable("it announces more than a message can hold"));
        }
        let message_bytes = HEADER_BYTES + length;
        let is_spare = self.unpacked.len() > BUFFER_BYTES_KEPT && message_bytes < self.unpacked.len() / 4;
        if is_spare || self.unpacked.len() < message_bytes {
            self.unpacked = vec![0; message_bytes];
        }
        let unpacked = &mut self.unpacked[..message_bytes];
        let outer = Header { message_bytes, opcode: OP_MSG, ..header };
        unpacked[..HEADER_BYTES].copy_from_slice(&outer.encode());
        let whole = match Compressor::numbered(number) {
            Some(compressor) => TOOLS
                .with_borrow_mut(|tools| tools.decompress(compressor, inside, &mut unpacked[HEADER_BYTES..])),
            None if number == AS_IS && inside.len() == length => {
                unpacked[HEADER_BYTES..].copy_from_slice(inside);
                Some(length)
            }
            None => return Err(unusable("its compressor is not known")),
        };
        if whole != Some(length) {
            return Err(unusable("what is inside is not what it announces"));
        }
        Ok(unpacked)
    }
}

fn split_u32(bytes: &[u8]) -> Result<(u32, &[u8]), ConnectionError> {
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| unusable("it ends too early"))?;
    Ok((u32::from_le_bytes(*head), rest))
}

fn unusable(reason: &'static str) -> ConnectionError {
    ConnectionError::Compressed(reason)
}

thread_local! {
    static TOOLS: RefCell<Tools> = RefCell::default();
}

/// What compressors work with, made when it is first needed.
#[derive(Default)]
struct Tools {
    snappy: Option<snap::raw::Encoder>,
    zlib: Option<(ZlibLevel, Compress)>,
    inflate: Option<Decompress>,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    unzstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Tools {
    /// What so many bytes take at most, when they can't be compressed.
    fn length_max(compressor: Compressor, bytes: usize) -> usize {
        match compressor {
            Compressor::Snappy => snap::raw::max_compress_len(bytes),
            // Stored blocks of deflate have 5 bytes each, at most one in 16 KiB, and zlib puts 6 around them.
            Compressor::Zlib => bytes + 5 * (bytes / 16_000 + 1) + 64,
            Compressor::Zstd => zstd::zstd_safe::compress_bound(bytes),
        }
    }

    /// How much of `space` the result takes; `None` when it doesn't fit.
    fn compress(
        &mut self,
        compressor: Compressor,
        level: ZlibLevel,
        bytes: &[u8],
        space: &mut [u8],
    ) -> Option<usize> {
        match compressor {
            Compressor::Snappy => {
                self.snappy.get_or_insert_with(snap::raw::Encoder::new).compress(bytes, space).ok()
            }
            Compressor::Zlib => {
                let (made_for, zlib) = self.zlib.get_or_insert_with(|| (level, Compress::new(level, true)));
                if *made_for != level {
                    (*made_for, *zlib) = (level, Compress::new(level, true));
                }
                zlib.reset();
                let status = zlib.compress(bytes, space, FlushCompress::Finish).ok()?;
                (status == Status::StreamEnd).then(|| zlib.total_out() as usize)
            }
            Compressor::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = Some(zstd::bulk::Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL).ok()?);
                }
                self.zstd.as_mut()?.compress_to_buffer(bytes, space).ok()
            }
        }
    }

    /// How much of `space` the result fills; `None` when `bytes` are none of the compressor's, or hold more.
    fn decompress(&mut self, compressor: Compressor, bytes: &[u8], space: &mut [u8]) -> Option<usize> {
        match compressor {
            Compressor::Snappy => snap::raw::Decoder::new().decompress(bytes, space).ok(),
            Compressor::Zlib => {
                let inflate = self.inflate.get_or_insert_with(|| Decompress::new(true));
                inflate.reset(true);
                let status = inflate.decompress(bytes, space, FlushDecompress::Finish).ok()?;
                (status == Status::StreamEnd).then(|| inflate.total_out() as usize)
            }
            Compressor::Zstd => {
                if self.unzstd.is_none() {
                    self.unzstd = Some(zstd::bulk::Decompressor::new().ok()?);
                }
                self.unzstd.as_mut()?.decompress_to_buffer(bytes, space).ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: [Compressor; 3] = Compressor::ALL;

    fn message(inside: &[u8]) -> Vec<u8> {
        let message_bytes = HEADER_BYTES + inside.len();
        let header = Header { message_bytes, request_id: 7, response_to: 3, opcode: OP_MSG };
        [header.encode().as_slice(), inside].concat()
    }

    /// Bytes that no compressor makes shorter (a linear congruential generator's upper ones).
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        for compressor in EACH {
            for inside in
                [vec![], vec![9], vec![0; 300_000], noise(1_000), noise(200_000), b"abcabc".repeat(50)]
            {
                let mut codec = Codec::new(compressor, None);
                let message = message(&inside);
                codec.pack(&message).unwrap();
                let packed = codec.packed().to_vec();
                let header = Header::decode(&packed).unwrap();
                assert_eq!((header.message_bytes, header.opcode), (packed.len(), OP_COMPRESSED));
                assert_eq!((header.request_id, header.response_to), (7, 3));
                assert_eq!(codec.unpack(&packed).unwrap(), message, "{compressor:?}");
            }
        }
    }

    #[test]
    fn a_message_becomes_shorter_and_the_level_counts() {
        let text = b"{ \"name\": \"value\", \"number\": 1234567890 } ".repeat(40);
        let length = |compressor, level| {
            let mut codec = Codec::new(compressor, level);
            codec.pack(&message(&text)).unwrap();
            codec.packed().len()
        };
        assert!(EACH.iter().all(|&compressor| length(compressor, None) < text.len() / 4));
        assert!(length(Compressor::Zlib, Some(0)) > text.len());
    }

    #[test]
    fn a_message_that_is_not_wrapped_is_itself() {
        let plain = message(b"plain");
        assert_eq!(Codec::new(Compressor::Zstd, None).unpack(&plain).unwrap(), plain);
        // Wrapped, but not compressed.
        let mut wrapped = message(b"\xdd\x07\0\0\x05\0\0\0\0plain");
        wrapped[12..16].copy_from_slice(&OP_COMPRESSED.to_le_bytes());
        assert_eq!(Codec::new(Compressor::Zstd, None).unpack(&wrapped).unwrap(), plain);
    }

    #[test]
    fn what_can_not_be_unpacked_is_an_error() {
        for compressor in EACH {
            let mut codec = Codec::new(compressor, None);
            codec.pack(&message(&noise(500))).unwrap();
            let good = codec.packed().to_vec();
            let changed = |at: usize, byte: u8| {
                let mut bad = good.clone();
                bad[at] = byte;
                bad
            };
            let mut cut = good[..good.len() - 20].to_vec();
            let cut_bytes = (cut.len() as u32).to_le_bytes();
            cut[..4].copy_from_slice(&cut_bytes);
            let mut short = good[..20].to_vec();
            short[..4].copy_from_slice(&20_u32.to_le_bytes());
            // The opcode inside, the length announced (more, far more, less), the compressor, the bytes, too few of them.
            let bad = [
                changed(16, 1),
                changed(21, 9),
                changed(23, 255),
                changed(20, 1),
                changed(24, 9),
                cut,
                short,
            ];
            for (number, message) in bad.iter().enumerate() {
                let unpacked = codec.unpack(message);
                assert!(matches!(unpacked, Err(ConnectionError::Compressed(_))), "{compressor:?} {number}");
            }
        }
    }

    #[test]
    fn the_best_that_a_server_takes_is_chosen() {
        let offer = Offer { compressors: vec![Compressor::Zstd, Compressor::Snappy], zlib_level: None };
        let best = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            offer.best(&names).map(|codec| codec.compressor)
        };
        assert_eq!(best(&["snappy", "zstd", "zlib"]), Some(Compressor::Zstd));
        assert_eq!(best(&["zlib", "snappy"]), Some(Compressor::Snappy));
        assert_eq!(best(&["zlib"]), None);
    }

    #[test]
    fn buffers_of_giants_are_given_back() {
        let mut codec = Codec::new(Compressor::Snappy, None);
        for inside in [noise(3_000_000), noise(100)] {
            codec.pack(&message(&inside)).unwrap();
            let packed = codec.packed().to_vec();
            codec.unpack(&packed).unwrap();
        }
        assert!(codec.packed.capacity() < BUFFER_BYTES_KEPT && codec.unpacked.len() < BUFFER_BYTES_KEPT);
    }
}
