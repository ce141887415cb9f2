//! Owns the quick way from a histogram's text to its counts.
//!
//! A report reads tens of thousands of histograms, each with some hundred values in a range of thousands: setting up the
//! whole range for each of them costs several times what its values cost. Only what brimline writes is read here; for
//! everything else, damaged text included, `hdrhistogram`'s own deserializer has the word.
//! Format: `HdrHistogram`'s V2 encoding, deflated (`V2EncodedHistogram` and `ZigZagEncoding` of its reference).

use std::io::Read;

use flate2::read::ZlibDecoder;

const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const COOKIE: u32 = 0x1c84_9313;
const HEADER_BYTES: usize = 40;
/// Counts of every value up to an hour, at nine bytes each, fit in.
const PAYLOAD_BYTES_MAX: u64 = 1 << 19;
/// With three digits, a power of two is divided into 1024 steps.
const STEPS_BITS: u32 = 10;
const STEPS: u64 = 1 << STEPS_BITS;

/// (value, count) ascending, values in the histogram's own steps; `None` for what isn't brimline's.
pub fn counts(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (cookie, rest) = bytes.split_first_chunk()?;
    let (length, deflated) = rest.split_first_chunk()?;
    if u32::from_be_bytes(*cookie) != COMPRESSED_COOKIE
        || u32::from_be_bytes(*length) as usize != deflated.len()
    {
        return None;
    }
    let mut encoded = Vec::with_capacity(4 * bytes.len());
    ZlibDecoder::new(deflated).take(PAYLOAD_BYTES_MAX).read_to_end(&mut encoded).ok()?;
    let (header, payload) = encoded.split_first_chunk::<HEADER_BYTES>()?;
    let value_max = expected_header(header, payload.len())?;
    let mut found = Vec::with_capacity(payload.len());
    let mut index = 0_u64;
    let mut left = payload;
    while !left.is_empty() {
        let number = next_number(&mut left)?;
        if number < 0 {
            index = index.checked_add(number.unsigned_abs())?;
            continue;
        }
        if number > 0 {
            found.push((value_at(index).filter(|value| *value <= value_max)?, number.unsigned_abs()));
        }
        index += 1;
    }
    Some(found)
}

/// The highest value of the range, of a header that says what brimline's say.
fn expected_header(header: &[u8; HEADER_BYTES], payload_bytes: usize) -> Option<u64> {
    let word = |at: usize| header[at..at + 4].try_into().ok().map(u32::from_be_bytes);
    let long = |at: usize| header[at..at + 8].try_into().ok().map(u64::from_be_bytes);
    let (offset, digits, lowest) = (word(8)?, word(12)?, long(16)?);
    let fits = word(0)? == COOKIE && word(4)? as usize == payload_bytes;
    let plain = (offset, digits, lowest) == (0, 3, 1) && long(32)? == 1.0_f64.to_bits();
    if fits && plain { long(24) } else { None }
}

/// A zigzag number of at most nine bytes, seven bits each and eight in the ninth: a count, or negative so many zeros.
fn next_number(left: &mut &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for place in 0..9 {
        let (byte, rest) = left.split_first()?;
        *left = rest;
        let last = place == 8 || *byte < 0x80;
        number |= u64::from(if place == 8 { *byte } else { byte & 0x7f }) << (7 * place);
        if last {
            break;
        }
    }
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// The lowest value that is counted at `index`.
fn value_at(index: u64) -> Option<u64> {
    if index < 2 * STEPS {
        return Some(index);
    }
    let shift = (index >> STEPS_BITS) - 1;
    if shift > 50 { None } else { Some(((index & (STEPS - 1)) + STEPS) << shift) }
}
