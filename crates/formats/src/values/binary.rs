//! Owns binary values as text.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Padding is needed, bits that the padding leaves over are not looked at.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// How bytes are written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RFC 4648 §4.
    Base64,
    /// RFC 4648 §6.
    Base32,
    /// Two digits a byte, either case.
    Hex,
}

impl Encoding {
    /// The bytes that `text` writes.
    pub fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Base64 => base64(text),
            Self::Base32 => base32(text),
            Self::Hex => hex(text),
        }
    }
}

/// The bytes that `text` writes in base 64; line breaks are passed over.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.contains(&b'\n') || text.contains(&b'\r') {
        let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
        return BASE64.decode(text).ok();
    }
    BASE64.decode(text).ok()
}

/// The bytes that `text` writes in base 16.
pub fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

fn base32(text: &[u8]) -> Option<Vec<u8>> {
    let (groups, []) = text.as_chunks::<8>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 5);
    for (index, group) in groups.iter().enumerate() {
        let digits = group.iter().position(|&byte| byte == b'=').unwrap_or(8);
        let is_last = index + 1 == groups.len();
        let length = match digits {
            8 => 5,
            7 if is_last => 4,
            5 if is_last => 3,
            4 if is_last => 2,
            2 if is_last => 1,
            _ => return None,
        };
        if group[digits..].iter().any(|&byte| byte != b'=') {
            return None;
        }
        let mut bits: u64 = 0;
        for &byte in &group[..digits] {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'2'..=b'7' => byte - b'2' + 26,
                _ => return None,
            };
            bits = bits << 5 | u64::from(digit);
        }
        bits <<= 5 * (8 - digits);
        bytes.extend_from_slice(&bits.to_be_bytes()[3..3 + length]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_follow_rfc_4648() {
        let cases: [(Encoding, &str, Option<&str>); 18] = [
            (Encoding::Base64, "", Some("")),
            (Encoding::Base64, "Zm9vYg==", Some("foob")),
            (Encoding::Base64, "Zm9v\r\nYg==", Some("foob")),
            (Encoding::Base64, "Zm9vYh==", Some("foob")),
            (Encoding::Base64, "Zm9vYg", None),
            (Encoding::Base64, "Zm 9vYg==", None),
            (Encoding::Base32, "", Some("")),
            (Encoding::Base32, "MY======", Some("f")),
            (Encoding::Base32, "MZXQ====", Some("fo")),
            (Encoding::Base32, "MZXW6===", Some("foo")),
            (Encoding::Base32, "MZXW6YQ=", Some("foob")),
            (Encoding::Base32, "MZXW6YTBOI======", Some("foobar")),
            (Encoding::Base32, "MZXW6", None),
            (Encoding::Base32, "MY======MY======", None),
            (Encoding::Base32, "my======", None),
            (Encoding::Hex, "666F6f", Some("foo")),
            (Encoding::Hex, "666", None),
            (Encoding::Hex, "0x68", None),
        ];
        for (encoding, text, bytes) in cases {
            let expected = bytes.map(|bytes| bytes.as_bytes().to_vec());
            assert_eq!(encoding.decode(text.as_bytes()), expected, "{encoding:?} {text}");
        }
    }
}
