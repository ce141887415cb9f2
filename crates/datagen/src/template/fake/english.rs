//! Texts in English.

use ::fake::locales::{Data, EN};

use super::{FakeKind, append_digits, append_email, append_pick, between};
use crate::OpRng;

const LETTER_CASE: u8 = 0x20;
/// Least and most words of a sentence.
pub const SENTENCE_WORDS: (u64, u64) = (6, 14);

pub fn append(what: FakeKind, rng: &mut OpRng, out: &mut Vec<u8>) {
    match what {
        FakeKind::Name => {
            append_pick(EN::NAME_FIRST_NAME, rng, out);
            out.push(b' ');
            append_pick(EN::NAME_LAST_NAME, rng, out);
        }
        FakeKind::FirstName => append_pick(EN::NAME_FIRST_NAME, rng, out),
        FakeKind::LastName => append_pick(EN::NAME_LAST_NAME, rng, out),
        FakeKind::UserName => append_user(rng, out),
        FakeKind::Email => append_email(append_user, rng, out),
        FakeKind::Phone => append_digits("(^##) ###-####", rng, out),
        FakeKind::Job => {
            append_pick(EN::JOB_SENIORITY, rng, out);
            out.push(b' ');
            append_pick(EN::JOB_FIELD, rng, out);
            out.push(b' ');
            append_pick(EN::JOB_POSITION, rng, out);
        }
        FakeKind::Company => append_company(rng, out),
        FakeKind::Industry => append_pick(EN::COMPANY_INDUSTRY, rng, out),
        FakeKind::Country => append_pick(EN::ADDRESS_COUNTRY, rng, out),
        FakeKind::State => append_pick(EN::ADDRESS_STATE, rng, out),
        FakeKind::City => append_city(rng, out),
        FakeKind::Street => append_street(rng, out),
        FakeKind::Postcode => append_digits("#####", rng, out),
        FakeKind::Address => append_address(rng, out),
        FakeKind::Word => append_pick(EN::LOREM_WORD, rng, out),
        FakeKind::Sentence => append_sentence(rng, out),
        FakeKind::Paragraph => {
            for sentence in 0..between(3, 6, rng) {
                if sentence > 0 {
                    out.push(b' ');
                }
                append_sentence(rng, out);
            }
        }
    }
}

fn append_user(rng: &mut OpRng, out: &mut Vec<u8>) {
    let start = out.len();
    append_pick(EN::NAME_FIRST_NAME, rng, out);
    out.push(b'.');
    append_pick(EN::NAME_LAST_NAME, rng, out);
    append_digits("##", rng, out);
    // An apostrophe, as in O'Hara, is no part of a name that is typed.
    let mut end = start;
    for at in start..out.len() {
        if out[at] != b'\'' {
            out[end] = out[at].to_ascii_lowercase();
            end += 1;
        }
    }
    out.truncate(end);
}

fn append_company(rng: &mut OpRng, out: &mut Vec<u8>) {
    append_pick(EN::NAME_LAST_NAME, rng, out);
    if rng.below(2) == 0 {
        out.extend_from_slice(b" and ");
        append_pick(EN::NAME_LAST_NAME, rng, out);
    }
    out.push(b' ');
    append_pick(EN::COMPANY_SUFFIX, rng, out);
}

fn append_city(rng: &mut OpRng, out: &mut Vec<u8>) {
    if rng.below(2) == 0 {
        append_pick(EN::ADDRESS_CITY_PREFIX, rng, out);
        out.push(b' ');
    }
    append_pick(EN::NAME_FIRST_NAME, rng, out);
    append_pick(EN::ADDRESS_CITY_SUFFIX, rng, out);
}

fn append_street(rng: &mut OpRng, out: &mut Vec<u8>) {
    append_pick(EN::NAME_LAST_NAME, rng, out);
    out.push(b' ');
    append_pick(EN::ADDRESS_STREET_SUFFIX, rng, out);
}

fn append_address(rng: &mut OpRng, out: &mut Vec<u8>) {
    append_digits("^## ", rng, out);
    append_street(rng, out);
    out.extend_from_slice(b", ");
    append_city(rng, out);
    out.extend_from_slice(b", ");
    append_pick(EN::ADDRESS_STATE_ABBR, rng, out);
    append_digits(" #####", rng, out);
}

fn append_sentence(rng: &mut OpRng, out: &mut Vec<u8>) {
    let start = out.len();
    let (least, most) = SENTENCE_WORDS;
    for word in 0..between(least, most, rng) {
        if word > 0 {
            out.push(b' ');
        }
        append_pick(EN::LOREM_WORD, rng, out);
    }
    out[start] &= !LETTER_CASE;
    out.push(b'.');
}
