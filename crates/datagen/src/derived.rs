//! Owns values that follow from key and field, so that whoever reads one knows what it must be: those of YCSB's
//! `dataintegrity`. The text `key:field` goes on with `:` and its own hash until it is as long as the field.
//!
//! The hash is that of Java's strings, a polynomial in 31 of 32 bits, which goes on from where it was.

/// Appends the value of `length` bytes that `field` has in the document under `key`, both of them ASCII.
pub(crate) fn append(key: impl FnOnce(&mut Vec<u8>), field: &str, length: usize, out: &mut Vec<u8>) {
    let start = out.len();
    key(out);
    out.push(b':');
    out.extend_from_slice(field.as_bytes());
    let mut hash = hashed(0, &out[start..]);
    while out.len() - start < length {
        let from = out.len();
        out.push(b':');
        hash = hashed(hash, b":");
        append_decimal(hash, out);
        hash = hashed(hash, &out[from + 1..]);
    }
    out.truncate(start + length);
}

fn hashed(hash: i32, text: &[u8]) -> i32 {
    text.iter().fold(hash, |hash, &byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

fn append_decimal(number: i32, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let from = out.len();
    let mut rest = number.unsigned_abs();
    loop {
        out.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out[from..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, field: &str, length: usize) -> String {
        let mut out = b"before".to_vec();
        append(|out| out.extend_from_slice(key.as_bytes()), field, length, &mut out);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    /// Java's `String.hashCode`: s[0]·31^(n−1) + … + s[n−1], in 32 bits.
    #[test]
    fn hashes_are_those_of_java() {
        let by_definition = |text: &str| {
            let length = text.len() as u32;
            text.bytes().zip(0..).fold(0i64, |sum, (byte, place): (u8, u32)| {
                let power = (0..length - 1 - place).fold(1i64, |power, _| (power * 31) % (1 << 32));
                (sum + i64::from(byte) * power) % (1 << 32)
            }) as u32 as i32
        };
        for text in ["a", "user1:field0:", "user6284781860667377211:field9:"] {
            assert_eq!(hashed(0, text.as_bytes()), by_definition(text), "{text}");
        }
        assert_eq!(hashed(0, b"hello"), 99_162_322);
        assert_eq!(hashed(0, b"polygenelubricants"), i32::MIN);
    }

    #[test]
    fn values_go_on_with_their_hash_and_end_with_the_field() {
        let hash = hashed(0, b"user1:field0:");
        assert_eq!(value("user1", "field0", 14), format!("user1:field0:{hash}")[..14]);
        assert_eq!(value("user1", "field0", 5), "user1");
        assert_eq!(value("user1", "field0", 12), "user1:field0");
        let long = value("user1", "field0", 100);
        assert_eq!(long.len(), 100);
        let (head, _) = long.split_at(long[..60].rfind(':').unwrap() + 1);
        assert!(long[head.len()..].starts_with(&hashed(0, head.as_bytes()).to_string()));
        assert_ne!(value("user2", "field0", 100), long);
    }

    #[test]
    fn the_least_number_is_written_whole() {
        let mut out = Vec::new();
        for number in [i32::MIN, -1, 0, 10, i32::MAX] {
            append_decimal(number, &mut out);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "-2147483648-10102147483647");
    }
}
