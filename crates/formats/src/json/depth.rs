//! Owns following brackets and strings without reading values.

use memchr::memchr2;

/// How deep the text read so far is nested.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depth {
    level: u64,
    /// The quote that ends the string which the text is in.
    string: Option<u8>,
    /// Whether the text ends with a backslash in a string.
    escaped: bool,
    /// Whether single quotes begin strings, too.
    single_quotes: bool,
}

/// What follows from a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Every bracket belongs to a value; the last value of the outermost level ends here, if one does.
    Last(Option<usize>),
    /// A bracket closes that was never opened, here.
    TooMany(usize),
}

impl Depth {
    /// At the outermost level.
    pub fn new(single_quotes: bool) -> Self {
        Self { single_quotes, ..Self::default() }
    }

    /// Goes on through `text`. Where `first_only`, stops at the first value that ends.
    pub fn follow(&mut self, text: &[u8], first_only: bool) -> Ends {
        let mut last = None;
        let mut at = 0;
        while at < text.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            if let Some(quote) = self.string {
                let Some(length) = memchr2(quote, b'\\', &text[at..]) else { break };
                at += length + 1;
                if text[at - 1] == quote {
                    self.string = None;
                } else {
                    self.escaped = true;
                }
                continue;
            }
            match text[at] {
                b'"' => self.string = Some(b'"'),
                b'\'' if self.single_quotes => self.string = Some(b'\''),
                b'{' | b'[' => self.level += 1,
                b'}' | b']' => {
                    let Some(level) = self.level.checked_sub(1) else { return Ends::TooMany(at) };
                    self.level = level;
                    if level == 0 {
                        last = Some(at + 1);
                        if first_only {
                            return Ends::Last(last);
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Ends::Last(last)
    }

    /// Where the last value of the outermost level ends in `text`, 0 where none does.
    pub fn last_before(mut self, text: &[u8]) -> usize {
        match self.follow(text, false) {
            Ends::Last(end) => end.unwrap_or(0),
            Ends::TooMany(at) => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        let cases: [(&str, Ends); 7] = [
            (r#"{"a":1}{"#, Ends::Last(Some(7))),
            (r#"{"a":"}"} "#, Ends::Last(Some(9))),
            (r#"{"a":"\"}"}"#, Ends::Last(Some(11))),
            (r#"{"a":[{}"#, Ends::Last(None)),
            (r"{}]", Ends::TooMany(2)),
            ("null", Ends::Last(None)),
            ("{'}'}", Ends::Last(Some(5))),
        ];
        for (text, ends) in cases {
            assert_eq!(Depth::new(text.contains('\'')).follow(text.as_bytes(), false), ends, "{text}");
        }
    }

    #[test]
    fn text_may_be_cut_anywhere() {
        let text = br#"{"a":"\\\"{","b":[{},"]"]} "#;
        for cut in 0..text.len() {
            let mut depth = Depth::new(false);
            let first = depth.follow(&text[..cut], false);
            let second = depth.follow(&text[cut..], false);
            let end = match (first, second) {
                (_, Ends::Last(Some(end))) => cut + end,
                (Ends::Last(Some(end)), _) => end,
                other => panic!("{other:?}"),
            };
            assert_eq!(end, text.len() - 1, "cut at {cut}");
        }
    }
}
