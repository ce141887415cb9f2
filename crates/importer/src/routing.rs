//! Owns which of several servers a document goes to, when the client itself shares them out: that follows from its `_id`
//! alone, so that the same `_id` goes to the same server again.

use brimline_bson::{ElementType, ReadError, Reader};

use crate::statement::id_of;

/// FNV-1a with 64 bits (Fowler, Noll, Vo).
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Servers take no document that is deeper (`BSON_MAX_DEPTH` is 200), and depth costs stack.
const DEPTH_MAX: u32 = 200;

const STRING: u8 = ElementType::String as u8;
const SYMBOL: u8 = ElementType::Symbol as u8;
const DOUBLE: u8 = ElementType::Double as u8;
const INT32: u8 = ElementType::Int32 as u8;
const INT64: u8 = ElementType::Int64 as u8;
const DECIMAL: u8 = ElementType::Decimal128 as u8;
const DOCUMENT: u8 = ElementType::Document as u8;
const ARRAY: u8 = ElementType::Array as u8;

/// The server of `document` among `servers`, counted from 0. What can't be read goes to the first.
pub fn server_of(document: &[u8], servers: usize) -> usize {
    if servers < 2 {
        return 0;
    }
    match id_of(document) {
        Ok(Some((type_byte, bytes))) => {
            let hash = with_value(OFFSET, type_byte, bytes, 0).map_or(0, mixed);
            (hash % servers as u64) as usize
        }
        _ => 0,
    }
}

/// `hash` with a value added. Values that MongoDB takes for the same `_id` add the same: numbers count by what they are,
/// whatever their type, also within documents.
fn with_value(hash: u64, type_byte: u8, bytes: &[u8], depth: u32) -> Result<u64, ReadError> {
    if let Some(number) = number(type_byte, bytes) {
        return Ok(with_bytes(with_bytes(hash, &[DOUBLE]), &number.to_bits().to_le_bytes()));
    }
    match type_byte {
        DOCUMENT | ARRAY if depth < DEPTH_MAX => {
            let mut hash = with_bytes(hash, &[type_byte]);
            let mut elements = Reader::new(bytes)?;
            while let Some(element) = elements.next_raw()? {
                hash = with_bytes(with_bytes(hash, element.name), &[0]);
                hash = with_value(hash, element.type_byte(), element.bytes(), depth + 1)?;
            }
            Ok(with_bytes(hash, &[0]))
        }
        SYMBOL => Ok(with_bytes(with_bytes(hash, &[STRING]), bytes)),
        _ => Ok(with_bytes(with_bytes(hash, &[type_byte]), bytes)),
    }
}

fn with_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// FNV-1a alone sends ids that follow each other to one server; the last steps of `MurmurHash3` mix all bits (Appleby).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// The double that is next to a number of any type, so that equal numbers have the same one.
fn number(type_byte: u8, bytes: &[u8]) -> Option<f64> {
    let number = match type_byte {
        DOUBLE => f64::from_le_bytes(bytes.try_into().ok()?),
        INT32 => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        INT64 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        DECIMAL => decimal(u128::from_le_bytes(bytes.try_into().ok()?)),
        _ => return None,
    };
    // There is one zero and one that is no number.
    Some(if number.is_nan() { f64::NAN } else { number + 0.0 })
}

/// The double next to a decimal of IEEE 754-2008 with 128 bits and a binary coefficient, as BSON has it.
fn decimal(bits: u128) -> f64 {
    const DIGITS_MAX: u128 = 9_999_999_999_999_999_999_999_999_999_999_999;
    const BIAS: i64 = 6_176;
    let magnitude = match (bits >> 122) & 0b1_1111 {
        0b1_1111 => f64::NAN,
        0b1_1110 => f64::INFINITY,
        // Such a coefficient has more digits than there can be: it is zero.
        0b1_1000.. => 0.0,
        _ => {
            let coefficient = bits & ((1 << 113) - 1);
            let exponent = ((bits >> 113) & 0x3fff) as i64 - BIAS;
            let digits = if coefficient > DIGITS_MAX { 0 } else { coefficient };
            format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
        }
    };
    if bits >> 127 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use brimline_bson::Writer;

    use super::*;

    fn with_id(id: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let whole = writer.begin_document();
        writer.int32("before", 1);
        id(&mut writer);
        writer.end_document(whole);
        bytes
    }

    #[test]
    fn a_single_server_has_every_document() {
        assert_eq!(server_of(b"no document", 1), 0);
        assert_eq!(server_of(b"no document", 3), 0);
    }

    #[test]
    fn every_server_has_its_share_of_ascending_ids() {
        for servers in [2, 3, 4, 7] {
            let mut counts = vec![0_u32; servers];
            for number in 0..10_000 {
                counts[server_of(&with_id(|writer| writer.int32("_id", number)), servers)] += 1;
            }
            let even = 10_000 / servers as u32;
            assert!(counts.iter().all(|&count| count.abs_diff(even) < even / 10), "{counts:?}");
        }
    }

    #[test]
    fn numbers_that_are_equal_go_to_the_same_server() {
        for number in [-7_i32, 0, 1, 2, 3, 1_000_000] {
            let servers = [
                server_of(&with_id(|writer| writer.int32("_id", number)), 5),
                server_of(&with_id(|writer| writer.int64("_id", i64::from(number))), 5),
                server_of(&with_id(|writer| writer.double("_id", f64::from(number))), 5),
            ];
            assert_eq!(servers, [servers[0]; 3], "{number}");
        }
    }

    #[test]
    fn decimals_go_where_the_double_that_is_equal_goes() {
        let decimal = |sign: u128, coefficient: u128, exponent: i64| {
            ((sign << 127) | (((exponent + 6_176) as u128) << 113) | coefficient).to_le_bytes()
        };
        let cases = [
            (decimal(0, 7, 0), 7.0),
            (decimal(1, 70, -1), -7.0),
            (decimal(0, 15, -1), 1.5),
            (decimal(0, 3, 20), 3e20),
            (decimal(1, 0, 5), 0.0),
            ((0b1_1110_u128 << 122).to_le_bytes(), f64::INFINITY),
            ((0b1_1111_u128 << 122).to_le_bytes(), -f64::NAN),
        ];
        for (bytes, double) in cases {
            let hash = with_value(OFFSET, DECIMAL, &bytes, 0);
            assert_eq!(hash, with_value(OFFSET, DOUBLE, &double.to_le_bytes(), 0), "{double}");
        }
        assert_ne!(
            with_value(OFFSET, DOUBLE, &1.5_f64.to_le_bytes(), 0),
            with_value(OFFSET, DOUBLE, &1.25_f64.to_le_bytes(), 0)
        );
    }

    #[test]
    fn numbers_are_the_same_within_documents() {
        let with_inner = |number: &dyn Fn(&mut Writer<'_>)| {
            with_id(|writer| {
                let inner = writer.begin_subdocument("_id");
                number(writer);
                writer.end_document(inner);
            })
        };
        for number in 0..20 {
            let whole = with_inner(&|writer| writer.int32("a", number));
            let double = with_inner(&|writer| writer.double("a", f64::from(number)));
            assert_eq!(server_of(&whole, 7), server_of(&double, 7), "{number}");
        }
    }

    #[test]
    fn a_document_of_any_depth_has_a_server() {
        let mut id = vec![5, 0, 0, 0, 0];
        for _ in 0..100_000 {
            let length = (id.len() + 8) as i32;
            id = [&length.to_le_bytes()[..], &[DOCUMENT, b'a', 0], &id, &[0]].concat();
            if id.len() > 40_000 {
                break;
            }
        }
        assert!(with_value(OFFSET, DOCUMENT, &id, 0).is_ok());
    }

    #[test]
    fn other_fields_change_nothing() {
        let plain = server_of(&with_id(|writer| writer.string("_id", "x")), 4);
        let longer = with_id(|writer| {
            writer.string("_id", "x");
            writer.string("text", "y");
        });
        assert_eq!(server_of(&longer, 4), plain);
    }
}
