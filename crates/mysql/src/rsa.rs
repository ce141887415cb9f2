//! Owns sealing a password for a server's public key: RSAES-OAEP with SHA-1, as RFC 8017 has it in 7.1.1, and the key as it is sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brimline_net::link::Lost;
use num_bigint::BigUint;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

const HASH_BYTES: usize = 20;
/// Shorter keys are no protection; a longer one, or another exponent than the usual ones, would make the client compute for long.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 128..=1_024;
const EXPONENT_BYTES_MAX: usize = 4;
const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// A server's public key.
#[derive(Debug, PartialEq, Eq)]
pub struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    /// Of the modulus.
    bytes: usize,
}

impl PublicKey {
    /// Reads a key in PEM.
    ///
    /// # Errors
    /// When it is none, or none that a client computes with.
    pub fn read(pem: &[u8]) -> Result<Self, Lost> {
        let key = std::str::from_utf8(pem).ok().and_then(decoded).and_then(|der| Self::from_der(&der));
        key.ok_or_else(|| Lost::bad("what the server sends as its public key is none"))
    }

    /// `SubjectPublicKeyInfo` of RFC 5280 around `RSAPublicKey` of RFC 8017.
    fn from_der(der: &[u8]) -> Option<Self> {
        const INTEGER: u8 = 0x02;
        const BIT_STRING: u8 = 0x03;
        const SEQUENCE: u8 = 0x30;
        let mut info = element(SEQUENCE, &mut &*der)?;
        element(SEQUENCE, &mut info)?; // the algorithm
        let [0, bits @ ..] = element(BIT_STRING, &mut info)? else { return None };
        let mut key = element(SEQUENCE, &mut &*bits)?;
        let [modulus, exponent] = [element(INTEGER, &mut key)?, element(INTEGER, &mut key)?].map(unsigned);
        let fits =
            MODULUS_BYTES.contains(&modulus.len()) && (1..=EXPONENT_BYTES_MAX).contains(&exponent.len());
        // Even ones have no inverse: nobody could read what is sealed.
        (fits && modulus[modulus.len() - 1] & exponent[exponent.len() - 1] & 1 == 1).then(|| Self {
            modulus: BigUint::from_bytes_be(modulus),
            exponent: BigUint::from_bytes_be(exponent),
            bytes: modulus.len(),
        })
    }

    /// `password` as only the server can read it, mixed with the `nonce` that it sent.
    ///
    /// # Errors
    /// When it is longer than the key takes, or the system has no randomness.
    pub fn sealed(&self, password: &str, nonce: &[u8]) -> Result<Zeroizing<Vec<u8>>, Lost> {
        let mut seed = [0; HASH_BYTES];
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| Lost::refused("the system has no randomness, which sealing a password takes"))?;
        let mut message = Zeroizing::new(password.as_bytes().to_vec());
        message.push(0);
        if !nonce.is_empty() {
            message.iter_mut().zip(nonce.iter().cycle()).for_each(|(byte, nonce)| *byte ^= nonce);
        }
        let encoded = self.encoded(&message, seed).ok_or_else(|| {
            Lost::refused(
                "the password is longer than the server's public key takes: set tls for this server",
            )
        })?;
        let sealed = BigUint::from_bytes_be(&encoded).modpow(&self.exponent, &self.modulus).to_bytes_be();
        let mut out = Zeroizing::new(vec![0; self.bytes]);
        out[self.bytes - sealed.len()..].copy_from_slice(&sealed);
        Ok(out)
    }

    /// EME-OAEP: 0, the masked seed, and the masked block of hash, zeros, 1 and message.
    fn encoded(&self, message: &[u8], seed: [u8; HASH_BYTES]) -> Option<Zeroizing<Vec<u8>>> {
        let block_bytes = self.bytes - 1 - HASH_BYTES;
        let zeros = block_bytes.checked_sub(HASH_BYTES + 1 + message.len())?;
        let mut block = Zeroizing::new(digest(&SHA1_FOR_LEGACY_USE_ONLY, b"").as_ref().to_vec());
        block.resize(HASH_BYTES + zeros, 0);
        block.push(1);
        block.extend_from_slice(message);
        mask(&mut block, &seed);
        let mut masked_seed = seed;
        mask(&mut masked_seed, &block);
        Some(Zeroizing::new([&[0], masked_seed.as_slice(), &block].concat()))
    }
}

/// MGF1: `bytes` mixed with hashes of `seed` and a counter.
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (counter, piece) in bytes.chunks_mut(HASH_BYTES).enumerate() {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[seed, &(counter as u32).to_be_bytes()].concat());
        piece.iter_mut().zip(hash.as_ref()).for_each(|(byte, hash)| *byte ^= hash);
    }
}

fn decoded(pem: &str) -> Option<Vec<u8>> {
    let text = pem.split_once(BEGIN)?.1.split_once(END)?.0;
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}

/// What the element of this `tag` holds, with which `from` begins; `from` is what follows.
fn element<'d>(tag: u8, from: &mut &'d [u8]) -> Option<&'d [u8]> {
    let (&[found, first], rest) = from.split_first_chunk()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x82 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    *from = rest;
    (found == tag).then_some(value)
}

/// An integer without the zeros before it.
fn unsigned(integer: &[u8]) -> &[u8] {
    let zeros = integer.iter().take_while(|&&byte| byte == 0).count();
    &integer[zeros..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By openssl, for these tests alone.
    const PEM: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCZhxZP2u5qL+B6UySyflRzN4pW
uPmPYThBUcGP1WCCylFZZrcrCjLuX4WJfYdkAYMCh2F4xgBjfBg6u+9FrjJUsH4j
bEgMoOBsL9W4zJEzdMTkQy6Wn9ZQcC+52uM4IEPU2aCqY3YmgqRX1w2n8yp1zJoE
2Pn42sj4hudFtc9m1wIDAQAB
-----END PUBLIC KEY-----
";
    const PRIVATE_EXPONENT: &[u8] = b"2bc58d01f57c75fff2734dd32fa4bef51e87ad940d6ae89ffe578de53143d3e654ed3550d1cf9597cada2aca0458e9e96d4625ef261ca4409433e2b3245db6f1674f6672c6a54556320d981adca168fa8e82f00b25547d89d88205ed8342e493fea7675fe9156e46d4d4048bb415e41ad73fd15e460059c546f067fa0f56c219";
    const NONCE: &[u8] = b"ABCDEFGHIJKLMNOPQRST";

    /// What the server reads.
    fn opened(sealed: &[u8]) -> Vec<u8> {
        let key = PublicKey::read(PEM.as_bytes()).unwrap();
        let exponent = BigUint::parse_bytes(PRIVATE_EXPONENT, 16).unwrap();
        let encoded = BigUint::from_bytes_be(sealed).modpow(&exponent, &key.modulus).to_bytes_be();
        // The zero before it is no part of the number.
        assert!(encoded.len() < key.bytes);
        let mut bytes = vec![0; key.bytes - 1 - encoded.len()];
        bytes.extend_from_slice(&encoded);
        let (seed, block) = bytes.split_at_mut(HASH_BYTES);
        mask(seed, block);
        mask(block, seed);
        let (hash, rest) = block.split_at(HASH_BYTES);
        assert_eq!(hash, digest(&SHA1_FOR_LEGACY_USE_ONLY, b"").as_ref());
        let one = rest.iter().position(|&byte| byte != 0).unwrap();
        assert_eq!(rest[one], 1);
        rest[one + 1..].iter().zip(NONCE.iter().cycle()).map(|(byte, nonce)| byte ^ nonce).collect()
    }

    #[test]
    fn a_password_is_read_by_who_has_the_key() {
        let key = PublicKey::read(PEM.as_bytes()).unwrap();
        for password in ["secret", "", "pässwörd of more than twenty bytes"] {
            let sealed = key.sealed(password, NONCE).unwrap();
            assert_eq!(sealed.len(), 128);
            assert_eq!(opened(&sealed), [password.as_bytes(), b"\0"].concat());
            assert_ne!(*sealed, *key.sealed(password, NONCE).unwrap(), "the seed is drawn anew");
        }
        let long = key.sealed(&"x".repeat(86), NONCE).unwrap_err();
        assert!(long.message.contains("longer than the server's public key takes"), "{long:?}");
        assert!(key.sealed(&"x".repeat(85), NONCE).is_ok());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let der = decoded(PEM).unwrap();
        for end in 0..der.len() {
            assert_eq!(PublicKey::from_der(&der[..end]), None, "{end}");
        }
        for (place, byte) in [(der.len() - 1, 0), (der.len() - 6, 0x04), (0, 0x31), (1, 0x80)] {
            let mut changed = der.clone();
            changed[place] = byte;
            assert_eq!(PublicKey::from_der(&changed), None, "{place}");
        }
        assert!(PublicKey::read(b"-----BEGIN PUBLIC KEY-----\nAAAA\n").is_err());
    }

    /// A key of odd numbers of these lengths.
    fn key_of(modulus_bytes: usize, exponent_bytes: usize) -> Vec<u8> {
        fn element(tag: u8, value: &[u8]) -> Vec<u8> {
            let length = (value.len() as u16).to_be_bytes();
            [&[tag, 0x82], length.as_slice(), value].concat()
        }
        let numbers = [modulus_bytes, exponent_bytes].map(|count| element(0x02, &vec![0x7f; count])).concat();
        let bits = element(0x03, &[&[0], element(0x30, &numbers).as_slice()].concat());
        element(0x30, &[element(0x30, b""), bits].concat())
    }

    #[test]
    fn a_key_that_takes_long_is_refused() {
        for (modulus_bytes, exponent_bytes, is_taken) in [
            (1_024, 4, true),
            (1_025, 4, false),
            (1_024, 5, false),
            (128, 1, true),
            (127, 1, false),
            (128, 0, false),
        ] {
            let key = PublicKey::from_der(&key_of(modulus_bytes, exponent_bytes));
            assert_eq!(key.is_some(), is_taken, "{modulus_bytes} bytes, an exponent of {exponent_bytes}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_key_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = PublicKey::from_der(&bytes);
            let _ = PublicKey::read(&bytes);
        }

        #[test]
        fn a_changed_byte_is_a_key_that_seals_or_none(place in 0..162_usize, byte in any::<u8>()) {
            let mut der = decoded(PEM).unwrap();
            der[place] = byte;
            if let Some(key) = PublicKey::from_der(&der) {
                prop_assert_eq!(key.sealed("secret", NONCE).map(|sealed| sealed.len()), Ok(key.bytes));
            }
        }
    }
}
