//! Owns reading the fields of a packet, none of whose lengths is trusted.

/// What is left of a packet. Each read is `None` where the packet ends too early.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An integer of the length that its first byte says.
    pub fn integer(&mut self) -> Option<u64> {
        match self.u8()? {
            short @ 0..=250 => Some(u64::from(short)),
            252 => self.u16().map(u64::from),
            253 => {
                let [low, middle, high] = self.array()?;
                Some(u64::from(u32::from_le_bytes([low, middle, high, 0])))
            }
            254 => self.u64(),
            _ => None,
        }
    }

    /// Text behind its length.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.integer()?).ok()?;
        self.bytes(length)
    }

    /// Text before a NUL.
    pub fn terminated(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = self.bytes(end)?;
        self.u8()?;
        Some(text)
    }
}

/// Appends an integer in as few bytes as it takes.
pub fn append_integer(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    match value {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => out.extend_from_slice(&[252, bytes[0], bytes[1]]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[253, bytes[0], bytes[1], bytes[2]]),
        _ => {
            out.push(254);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends text behind its length.
pub fn append_text(text: &[u8], out: &mut Vec<u8>) {
    append_integer(text.len() as u64, out);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_as_few_bytes_as_they_can() {
        for (value, length) in [
            (0, 1),
            (250, 1),
            (251, 3),
            (0xffff, 3),
            (0x1_0000, 4),
            (0xff_ffff, 4),
            (0x100_0000, 9),
            (u64::MAX, 9),
        ] {
            let mut out = Vec::new();
            append_integer(value, &mut out);
            assert_eq!(out.len(), length, "{value}");
            let mut fields = Fields(&out);
            assert_eq!((fields.integer(), fields.0.len()), (Some(value), 0));
            assert_eq!(Fields(&out[..length - 1]).integer(), None);
        }
        assert_eq!(Fields(&[251]).integer(), None);
        assert_eq!(Fields(&[254, 255, 255, 255, 255, 255, 255, 255, 255, b'a']).text(), None);
        assert_eq!(Fields(b"abc").terminated(), None);
    }
}
