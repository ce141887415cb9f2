//! Owns the way from a histogram's bytes to its counts, in every encoding that `HdrHistogram` has had.
//!
//! A report reads tens of thousands of histograms, each with some hundred values in a range of thousands: setting up the
//! whole range for each of them costs several times what its values cost, so that only counted values come out here.
//! Formats: `HdrHistogram`'s V0, V1 and V2 (`AbstractHistogram` and `ZigZagEncoding` of its reference), plain or deflated.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// Bits 4 to 7 of a cookie are the size of a counter, the rest says which encoding it is.
const COOKIE_MASK: u32 = !0xf0;
const HEADER_BYTES: usize = 40;
const V0_HEADER_BYTES: usize = 32;
/// Five digits up to an hour in ns, at nine bytes a counter, fit in.
const ENCODED_BYTES_MAX: u64 = 1 << 25;
const DIGITS_MAX: u32 = 5;
/// More is damage: sums of such counts have to fit into 64 bits.
const COUNT_MAX: u64 = 1 << 50;

/// How counts are written.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    /// Whole numbers of 2, 4 or 8 bytes; a header with the number of all values and without a length.
    V0,
    /// The same, with a length.
    V1,
    /// Zigzag numbers of at most nine bytes; a negative one is so many zeros.
    V2,
}

/// (value, count) ascending; a value is the lowest one that is counted with it. The error says what is wrong.
pub fn counts(bytes: &[u8]) -> Result<Vec<(u64, u64)>, &'static str> {
    let (cookie, _) = split(bytes)?;
    if plain_encoding(cookie).is_some() {
        return plain_counts(bytes);
    }
    if !matches!(cookie & COOKIE_MASK, 0x1c84_9302 | 0x1c84_9304 | 0x1c84_9309) {
        return Err("the bytes don't begin as a histogram of whole numbers");
    }
    let (length, deflated) = split(&bytes[4..])?;
    if length as usize > deflated.len() {
        return Err("it is cut short");
    }
    let mut encoded = Vec::with_capacity(4 * bytes.len());
    let mut inflated = ZlibDecoder::new(&deflated[..length as usize]).take(ENCODED_BYTES_MAX + 1);
    inflated.read_to_end(&mut encoded).map_err(|_| "its deflated part is damaged")?;
    if encoded.len() as u64 > ENCODED_BYTES_MAX {
        return Err("it is longer than a histogram can be");
    }
    plain_counts(&encoded)
}

fn plain_encoding(cookie: u32) -> Option<Encoding> {
    match cookie & COOKIE_MASK {
        0x1c84_9308 => Some(Encoding::V0),
        0x1c84_9301 => Some(Encoding::V1),
        0x1c84_9303 => Some(Encoding::V2),
        _ => None,
    }
}

fn plain_counts(encoded: &[u8]) -> Result<Vec<(u64, u64)>, &'static str> {
    let (cookie, _) = split(encoded)?;
    let encoding = plain_encoding(cookie).ok_or("its inner part is no histogram")?;
    let header_bytes = if encoding == Encoding::V0 { V0_HEADER_BYTES } else { HEADER_BYTES };
    let (header, payload) = encoded.split_at_checked(header_bytes).ok_or("it is cut short")?;
    // A V0 header lacks the length and the offset, which stand between cookie and digits.
    let (digits_at, payload) = if encoding == Encoding::V0 {
        (4, payload)
    } else {
        let length = word(header, 4) as usize;
        (12, payload.get(..length).ok_or("it is cut short")?)
    };
    let scale = Scale::of(word(header, digits_at), long(header, digits_at + 4))?;
    let mut found = Vec::with_capacity(payload.len() / 2);
    let mut index = 0_u64;
    let mut left = payload;
    while !left.is_empty() {
        let number = if encoding == Encoding::V2 {
            next_zigzag(&mut left)
        } else {
            next_counter(&mut left, (cookie >> 4) & 0xe)
        }
        .ok_or("it is cut short")?;
        if number < 0 && encoding == Encoding::V2 {
            index = index.checked_add(number.unsigned_abs()).ok_or("its values are out of range")?;
            continue;
        }
        if number != 0 {
            // The header's highest value is no bound: of a histogram that grew it may still be the first one's.
            let value = scale.value_at(index).ok_or("its values are out of range")?;
            let count = u64::try_from(number).ok().filter(|count| *count <= COUNT_MAX);
            found.push((value, count.ok_or("its counts are out of range")?));
        }
        index = index.checked_add(1).ok_or("its values are out of range")?;
    }
    Ok(found)
}

fn split(bytes: &[u8]) -> Result<(u32, &[u8]), &'static str> {
    let (first, rest) = bytes.split_first_chunk().ok_or("it is cut short")?;
    Ok((u32::from_be_bytes(*first), rest))
}

fn word(header: &[u8], at: usize) -> u32 {
    header[at..at + 4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn long(header: &[u8], at: usize) -> u64 {
    header[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// A count as so many bytes, the highest first.
fn next_counter(left: &mut &[u8], bytes: u32) -> Option<i64> {
    if !matches!(bytes, 2 | 4 | 8) {
        return None;
    }
    let (counter, rest) = left.split_at_checked(bytes as usize)?;
    *left = rest;
    let number = counter.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let unused = 64 - 8 * bytes;
    Some((number << unused) as i64 >> unused)
}

/// A zigzag number of at most nine bytes, seven bits each and eight in the ninth: a count, or negative so many zeros.
fn next_zigzag(left: &mut &[u8]) -> Option<i64> {
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

/// Which value an index stands for: a power of two is divided into `1 << steps_bits` steps, of `1 << unit_bits` at least.
struct Scale {
    steps_bits: u32,
    unit_bits: u32,
}

impl Scale {
    fn of(digits: u32, lowest: u64) -> Result<Self, &'static str> {
        if digits > DIGITS_MAX || lowest == 0 {
            return Err("its header is damaged");
        }
        // The steps below which every value of so many digits is told from the next: 2 · 10^digits, as a power of two.
        let steps = (2 * 10_u64.pow(digits)).next_power_of_two();
        Ok(Self { steps_bits: steps.trailing_zeros() - 1, unit_bits: lowest.ilog2() })
    }

    /// The lowest value that is counted at `index`.
    fn value_at(&self, index: u64) -> Option<u64> {
        let steps = 1 << self.steps_bits;
        if index < 2 * steps {
            return index.checked_mul(1 << self.unit_bits);
        }
        let shift = u32::try_from((index >> self.steps_bits) - 1).ok()?.checked_add(self.unit_bits)?;
        if shift > 62 - self.steps_bits { None } else { Some(((index & (steps - 1)) + steps) << shift) }
    }
}
