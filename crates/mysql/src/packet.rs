//! Owns the frames: a payload of any length as packets of less than 16 MiB, each with its length and its number.

/// The longest payload of one packet. One of exactly this length is followed by another of the same payload, empty if need be.
pub const PAYLOAD_BYTES_MAX: usize = 0xff_ffff;
/// Length and number.
pub const HEADER_BYTES: usize = 4;

/// Length and number of the packet that `bytes` begin with.
pub fn header(bytes: &[u8]) -> Option<(usize, u8)> {
    let [low, middle, high, number] = *bytes.first_chunk()?;
    Some((u32::from_le_bytes([low, middle, high, 0]) as usize, number))
}

/// Appends the packets of what `fill` appends, numbered from `number` on; the number of the next packet.
///
/// # Errors
/// Those of `fill`.
pub fn append(
    number: u8,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<u8, String> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    fill(out)?;
    let length = out.len() - start - HEADER_BYTES;
    if length < PAYLOAD_BYTES_MAX {
        write_header(&mut out[start..], length, number);
        return Ok(number.wrapping_add(1));
    }
    Ok(split(start, number, out))
}

/// Puts headers into a payload that is too long for one packet.
#[cold]
fn split(start: usize, mut number: u8, out: &mut Vec<u8>) -> u8 {
    let payload = out.split_off(start + HEADER_BYTES);
    out.truncate(start);
    let mut pieces = payload.chunks_exact(PAYLOAD_BYTES_MAX);
    let mut push = |piece: &[u8], out: &mut Vec<u8>| {
        let at = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        write_header(&mut out[at..], piece.len(), number);
        out.extend_from_slice(piece);
        number = number.wrapping_add(1);
    };
    for piece in &mut pieces {
        push(piece, out);
    }
    push(pieces.remainder(), out);
    number
}

fn write_header(out: &mut [u8], length: usize, number: u8) {
    let [low, middle, high, _] = (length as u32).to_le_bytes();
    out[..HEADER_BYTES].copy_from_slice(&[low, middle, high, number]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_split_where_it_must() {
        for (length, packets) in [
            (0, 1),
            (5, 1),
            (PAYLOAD_BYTES_MAX - 1, 1),
            (PAYLOAD_BYTES_MAX, 2),
            (2 * PAYLOAD_BYTES_MAX + 3, 3),
        ] {
            let mut out = b"before".to_vec();
            let next = append(7, &mut out, |out| {
                out.resize(out.len() + length, b'x');
                Ok(())
            });
            assert_eq!(next, Ok(7 + packets), "{length}");
            let mut rest = &out[6..];
            let (mut total, mut numbers) = (0, Vec::new());
            while let Some((piece, number)) = header(rest) {
                assert!(rest[HEADER_BYTES..HEADER_BYTES + piece].iter().all(|&byte| byte == b'x'));
                rest = &rest[HEADER_BYTES + piece..];
                total += piece;
                numbers.push(number);
            }
            assert_eq!((total, rest.len()), (length, 0));
            assert_eq!(numbers, (7..7 + packets).collect::<Vec<_>>());
        }
    }
}
