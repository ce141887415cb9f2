//! Owns telling text in UTF-16 and UTF-32 by its mark, or by the zeros that text without one has.

/// Latin letters, digits and separators below which text may be UTF-8 with stray NULs.
const LATIN_MIN: usize = 4;

/// An encoding of 16 or 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// As `iconv` names it.
    name: &'static str,
    is_marked: bool,
}

impl Encoding {
    /// What is to be done about an input in it.
    pub fn reason(self) -> String {
        // By its mark iconv knows the order of the bytes, and leaves the mark out.
        let (without, from) = match (self.is_marked, self.name) {
            (true, name) => ("", &name[..name.len() - 2]),
            (false, name) => (" without a mark", name),
        };
        let name = &self.name[..self.name.len() - 2];
        format!("the input is {name}{without}; convert it to UTF-8 (iconv -f {from} -t UTF-8)")
    }
}

/// Marks; of those that begin alike the longest comes first.
const MARKS: [(&[u8], &str); 4] = [
    (b"\xff\xfe\0\0", "UTF-32LE"),
    (b"\0\0\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
];

/// The encoding of a text that begins with `head`; `None` when it is neither UTF-16 nor UTF-32.
pub fn of(head: &[u8]) -> Option<Encoding> {
    if let Some((_, name)) = MARKS.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Some(Encoding { name, is_marked: true });
    }
    let name = match head {
        _ if is_utf32(head, u32::from_le_bytes) => "UTF-32LE",
        _ if is_utf32(head, u32::from_be_bytes) => "UTF-32BE",
        _ if is_utf16(head, u16::from_le_bytes) => "UTF-16LE",
        _ if is_utf16(head, u16::from_be_bytes) => "UTF-16BE",
        _ => return None,
    };
    Some(Encoding { name, is_marked: false })
}

/// Whether a text in UTF-32 could begin so. No text in UTF-8 does: one byte of every four is 0.
fn is_utf32(head: &[u8], unit: fn([u8; 4]) -> u32) -> bool {
    let (units, _) = head.as_chunks::<4>();
    units.len() > 1 && units.iter().all(|&bytes| char::from_u32(unit(bytes)).is_some_and(is_text))
}

/// Whether a text in UTF-16 begins so: nearly all of it Latin, or with line ends of their own among other characters. Text in
/// UTF-8 may hold stray NULs, and then reads like neither.
fn is_utf16(head: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (units, _) = head.as_chunks::<2>();
    let codes = || units.iter().map(|&bytes| unit(bytes));
    let is_whole = char::decode_utf16(codes()).all(|each| each.map_or(true, is_text));
    let latin = codes().filter(|code| *code < 0x100).count();
    let zeros = memchr::memchr_iter(0, head).count();
    is_whole
        && latin >= LATIN_MIN
        && zeros == latin
        && (latin * 10 >= units.len() * 9 || codes().any(|code| code == 0x0a))
}

fn is_text(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r') || !character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 4] =
        ["a,b\n1,2\n", "name,city\r\n张伟,北京\r\n李娜,上海\r\n", "Straße\n", "{\"ä\": 1}\n"];

    fn wide(text: &str, units: impl Fn(char) -> Vec<u8>) -> Vec<u8> {
        text.chars().flat_map(units).collect()
    }

    fn encoded(text: &str, name: &str) -> Vec<u8> {
        match name {
            "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            "UTF-32LE" => wide(text, |each| u32::from(each).to_le_bytes().to_vec()),
            _ => wide(text, |each| u32::from(each).to_be_bytes().to_vec()),
        }
    }

    #[test]
    fn each_encoding_is_told_with_its_mark_and_without() {
        for (_, name) in MARKS {
            for text in TEXTS {
                let marked = of(&encoded(&format!("\u{feff}{text}"), name)).map(Encoding::reason);
                let family = &name[..6];
                let expected =
                    format!("the input is {family}; convert it to UTF-8 (iconv -f {family} -t UTF-8)");
                assert_eq!(marked, Some(expected), "{name}: {text}");
                let unmarked = of(&encoded(text, name)).map(Encoding::reason);
                let expected = format!(
                    "the input is {family} without a mark; convert it to UTF-8 (iconv -f {name} -t UTF-8)"
                );
                assert_eq!(unmarked, Some(expected), "{name}: {text}");
            }
        }
    }

    #[test]
    fn utf_8_with_stray_nuls_is_neither() {
        let texts = [
            "",
            "a",
            "ab\0\0",
            "_id,v\n1,a\0b\n2,ok\n",
            "a\0,b\0\n1,2\nc,d\n",
            "ab,c\n12\0,3456\0,5\n",
            "张\0,b\n",
        ];
        for text in texts {
            assert_eq!(of(text.as_bytes()), None, "{text:?}");
        }
    }
}
