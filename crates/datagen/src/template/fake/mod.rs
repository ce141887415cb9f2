//! Texts as people have them, in English and Chinese. Words and names are those of the crate `fake`, drawn by our own
//! [`OpRng`] so that a text is a function of (seed, index) and nothing is allocated; what it has no Chinese for is in `chinese`.
//!
//! No e-mail address is anybody's: their domains are reserved for examples (RFC 2606).

mod chinese;
mod english;

use serde::{Deserialize, Serialize};

use crate::OpRng;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FakeKind {
    Name,
    FirstName,
    LastName,
    UserName,
    Email,
    Phone,
    Job,
    Company,
    Industry,
    Country,
    State,
    City,
    Street,
    Postcode,
    Address,
    Word,
    Sentence,
    Paragraph,
}

impl FakeKind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
        Self::Name,
        Self::FirstName,
        Self::LastName,
        Self::UserName,
        Self::Email,
        Self::Phone,
        Self::Job,
        Self::Company,
        Self::Industry,
        Self::Country,
        Self::State,
        Self::City,
        Self::Street,
        Self::Postcode,
        Self::Address,
        Self::Word,
        Self::Sentence,
        Self::Paragraph,
    ];

    /// Upper bound of the bytes of a text in any language; a round number above what the lists can give.
    pub const fn bytes_max(self) -> u32 {
        match self {
            Self::Address => 128,
            Self::Sentence => 384,
            Self::Paragraph => 2048,
            _ => 64,
        }
    }
}

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English, with addresses and telephone numbers as in the United States.
    En,
    /// Chinese, simplified.
    Zh,
}

/// Makes texts of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fake {
    what: FakeKind,
    language: Language,
}

impl Fake {
    pub(crate) fn new(what: FakeKind, language: Language) -> Self {
        Self { what, language }
    }

    /// Appends a text.
    pub(crate) fn append(self, rng: &mut OpRng, out: &mut Vec<u8>) {
        match self.language {
            Language::En => english::append(self.what, rng, out),
            Language::Zh => chinese::append(self.what, rng, out),
        }
    }
}

fn pick<T: Copy>(list: &[T], rng: &mut OpRng) -> T {
    list[rng.below(list.len() as u64) as usize]
}

fn append_pick(list: &[&str], rng: &mut OpRng, out: &mut Vec<u8>) {
    out.extend_from_slice(pick(list, rng).as_bytes());
}

/// Appends `form` with a digit for each `#`, and one from 1 for each `^`.
fn append_digits(form: &str, rng: &mut OpRng, out: &mut Vec<u8>) {
    out.extend(form.bytes().map(|byte| match byte {
        b'#' => b'0' + rng.below(10) as u8,
        b'^' => b'1' + rng.below(9) as u8,
        other => other,
    }));
}

/// A number of `min ..= max`.
fn between(min: u64, max: u64, rng: &mut OpRng) -> u64 {
    min + rng.below(max - min + 1)
}

/// Appends `user@` and a domain that is nobody's.
fn append_email(user: impl FnOnce(&mut OpRng, &mut Vec<u8>), rng: &mut OpRng, out: &mut Vec<u8>) {
    user(rng, out);
    out.push(b'@');
    append_pick(&["example.com", "example.net", "example.org"], rng, out);
}

#[cfg(test)]
mod tests {
    use ::fake::locales::{Data, EN, ZH_CN};

    use super::*;

    fn longest(lists: &[&[&str]]) -> usize {
        lists.iter().map(|list| list.iter().map(|text| text.len()).max().unwrap_or(0)).sum()
    }

    /// Drawing long enough would never show it: the longest of every list at once.
    #[test]
    fn bounds_are_above_the_longest_of_all_lists() {
        let street = longest(&[EN::NAME_LAST_NAME, EN::ADDRESS_STREET_SUFFIX]) + 1;
        let city = longest(&[EN::ADDRESS_CITY_PREFIX, EN::NAME_FIRST_NAME, EN::ADDRESS_CITY_SUFFIX]) + 1;
        let user = longest(&[EN::NAME_FIRST_NAME, EN::NAME_LAST_NAME]) + 3;
        let sentence = (english::SENTENCE_WORDS.1 as usize) * (longest(&[EN::LOREM_WORD]) + 1);
        let sentence_zh = (chinese::SENTENCE_WORDS.1 as usize) * longest(&[ZH_CN::LOREM_WORD]) + 6;
        for (what, bytes) in [
            (FakeKind::Name, longest(&[EN::NAME_FIRST_NAME, EN::NAME_LAST_NAME]) + 1),
            (FakeKind::Email, user + "@example.com".len()),
            (FakeKind::Job, longest(&[EN::JOB_SENIORITY, EN::JOB_FIELD, EN::JOB_POSITION]) + 2),
            (FakeKind::Job, longest(&[ZH_CN::COMPANY_PROFESSION])),
            (FakeKind::Company, longest(&[EN::NAME_LAST_NAME, EN::NAME_LAST_NAME, EN::COMPANY_SUFFIX]) + 6),
            (FakeKind::Company, chinese::company_bytes_max()),
            (FakeKind::Industry, longest(&[EN::COMPANY_INDUSTRY]).max(longest(&[ZH_CN::COMPANY_INDUSTRY]))),
            (FakeKind::Country, longest(&[EN::ADDRESS_COUNTRY]).max(longest(&[ZH_CN::ADDRESS_COUNTRY]))),
            (FakeKind::City, city),
            (FakeKind::Street, street),
            (FakeKind::Address, 4 + street + 2 + city + 2 + longest(&[EN::ADDRESS_STATE_ABBR]) + 6),
            (FakeKind::Address, chinese::address_bytes_max()),
            (FakeKind::Sentence, sentence),
            (FakeKind::Sentence, sentence_zh),
            (FakeKind::Paragraph, 6 * (sentence + 1)),
            (FakeKind::Paragraph, 6 * sentence_zh),
        ] {
            assert!(bytes <= what.bytes_max() as usize, "{what:?} reaches {bytes}");
        }
    }
}
