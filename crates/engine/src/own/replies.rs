//! What the reply to a step must say, and what of it later steps use.

use brimline_bson::{ElementType, RawElement, Writer, find};
use brimline_datagen::expression::{
    Draw, ElementName, Expression, SavedValues, Uses, World, constant_of_hex,
};
use brimline_net::link::Looks as ReplyLooks;
use regex::{Regex, RegexBuilder};

use super::plan::{Expectation, Expected, OwnStep, Save, SavedFrom};
use crate::failure::{Failure, FailureClass};
use crate::plan::error::PlanError;
use crate::target::{KeptReply, ReplyFacts};

/// Most memory that a compiled regular expression takes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// What is found where nothing is.
const NOT_THERE: &str = "it is not there";

/// The expectations of a step, and what it saves.
pub struct Checks {
    expect: Vec<Wanted>,
    save: Vec<(Save, Option<Constant>, Option<Regex>)>,
}

/// An expectation, prepared.
struct Wanted {
    plan: Expectation,
    equals: Option<Constant>,
    value: Option<Expression>,
    pattern: Option<Regex>,
}

/// What the values of an operation are made of, and room for one.
pub struct Values<'v, 'd> {
    /// What all are made of.
    pub world: &'v World,
    /// What those of this operation are drawn from.
    pub draw: Draw<'d>,
    /// Where one is written.
    pub scratch: &'v mut Vec<u8>,
}

impl Values<'_, '_> {
    /// A value as a constant, without one that can't be made.
    fn constant(&mut self, value: &Expression) -> Option<Constant> {
        self.scratch.clear();
        self.world.put(value, &ElementName::new(""), &self.draw, self.scratch).ok()?;
        // Between the type and the value is the empty name's end.
        let (&type_byte, rest) = self.scratch.split_first()?;
        Some(Constant::new(&[&[type_byte], rest.get(1..)?].concat()))
    }
}

/// A BSON value, as the only element of a document.
#[derive(Clone, Debug, PartialEq)]
struct Constant(Vec<u8>);

/// What a finished step brought.
pub struct Brought<'m> {
    /// Documents of all its replies.
    pub documents: u64,
    /// What its last reply says.
    pub facts: &'m ReplyFacts,
    /// Its reply, where that was kept; `None` from a target that has none.
    pub kept: Option<KeptReply<'m>>,
}

impl Checks {
    /// `draws_as` names the step, so that its values draw as elsewhere in it.
    pub(super) fn new(
        world: &World,
        step: &OwnStep,
        draws_as: &str,
        path: &str,
    ) -> Result<Option<Self>, PlanError> {
        if step.expect.is_empty() && step.save.is_empty() {
            return Ok(None);
        }
        let expect = step.expect.iter().enumerate().map(|(place, each)| {
            let value =
                each.value.as_ref().map(|value| world.prepare(&format!("{draws_as}.expect.{place}"), value));
            Ok(Wanted {
                plan: each.clone(),
                equals: constant(each.equals.as_deref(), path)?,
                value: value.transpose().map_err(|error| PlanError::inside(path, &error))?,
                pattern: regex(each.matches.as_deref(), path)?,
            })
        });
        let save = step.save.iter().map(|each| {
            let default = constant(each.default.as_deref(), path)?;
            Ok((each.clone(), default, regex(each.pattern.as_deref(), path)?))
        });
        Ok(Some(Self {
            expect: expect.collect::<Result<_, PlanError>>()?,
            save: save.collect::<Result<_, PlanError>>()?,
        }))
    }

    /// What the values that it compares with take.
    pub(super) fn uses(&self) -> impl Iterator<Item = &Uses> {
        self.expect.iter().filter_map(|each| each.value.as_ref()).map(Expression::uses)
    }

    /// Whether it looks at fields of the reply.
    pub fn looks_into_reply(&self) -> bool {
        !self.save.is_empty() || self.expect.iter().any(|each| each.plan.what == Expected::Field)
    }

    /// What of the view of a reply behind a link it looks at.
    pub fn looks(&self) -> ReplyLooks {
        let mut looks = ReplyLooks::default();
        let fields = self.expect.iter().filter(|each| each.plan.what == Expected::Field);
        let saved = self.save.iter().map(|(save, ..)| (save.from, &save.path));
        for (from, path) in fields.map(|each| (SavedFrom::Reply, &each.plan.path)).chain(saved) {
            match (from, path.first().map(String::as_str)) {
                (SavedFrom::Document, _) | (_, Some("json" | "rows")) => looks.at_content = true,
                (_, Some("text")) => looks.at_text = true,
                _ => looks.at_head = true,
            }
        }
        looks
    }

    /// Whether it says how many documents there must be, so that none may be right.
    pub fn counts_documents(&self) -> bool {
        self.expect.iter().any(|each| each.plan.what != Expected::Field)
    }

    /// Judges a reply.
    ///
    /// # Errors
    /// What was expected and is not so.
    pub fn judge(&self, brought: &Brought<'_>, values: &mut Values<'_, '_>) -> Result<(), Failure> {
        if brought.facts.bytes == 0 {
            // A target that answers without a server has nothing to judge.
            return Ok(());
        }
        let body = brought.kept.map(|kept| kept.body);
        self.expect.iter().try_for_each(|wanted| judge(wanted, brought, body, values))
    }

    /// Keeps what is to be kept of a reply.
    ///
    /// # Errors
    /// What was to be there and is not.
    pub fn save(&self, brought: &Brought<'_>, saved: &mut SavedValues) -> Result<(), Failure> {
        if brought.facts.bytes == 0 {
            // Nor anything to save.
            for (save, ..) in &self.save {
                saved.set(save.slot as usize, ElementType::Null as u8, &[]);
            }
            return Ok(());
        }
        let body = brought.kept.map(|kept| kept.body);
        for (save, default, pattern) in &self.save {
            let document = match save.from {
                SavedFrom::Document => brought.kept.and_then(|kept| kept.document),
                SavedFrom::Reply => body,
            };
            let found = document.and_then(|document| find(document, &save.path));
            if let Some(pattern) = pattern {
                let text = found.and_then(text_of).unwrap_or_default();
                if let Some(group) = pattern.captures(text).and_then(|groups| groups.get(1)) {
                    saved.set_text(save.slot as usize, group.as_str());
                    continue;
                }
            }
            match (found.filter(|_| pattern.is_none()), default) {
                (Some(element), _) => saved.set(save.slot as usize, element.type_byte(), element.bytes()),
                (None, Some(Constant(default))) => {
                    if let Some(default) = find(default, &[""]) {
                        saved.set(save.slot as usize, default.type_byte(), default.bytes());
                    }
                }
                (None, None) => {
                    let path = save.path.join(".");
                    return Err(unexpected(&format!("{path} is in the reply"), NOT_THERE));
                }
            }
        }
        Ok(())
    }
}

impl Expected {
    /// What people call it.
    fn name(self, path: &[String]) -> String {
        match self {
            Self::Documents => "documents".to_owned(),
            Self::N => "n".to_owned(),
            Self::Modified => "modified".to_owned(),
            Self::Field => path.join("."),
        }
    }
}

/// Judges one expectation; `body` is the reply's, where that was kept.
fn judge(
    wanted: &Wanted,
    brought: &Brought<'_>,
    body: Option<&[u8]>,
    values: &mut Values<'_, '_>,
) -> Result<(), Failure> {
    let expectation = &wanted.plan;
    let name = expectation.what.name(&expectation.path);
    let number = match expectation.what {
        Expected::Documents => Some(brought.documents as f64),
        Expected::N => Some(brought.facts.n as f64),
        Expected::Modified => Some(brought.facts.modified as f64),
        Expected::Field => {
            let element = body.and_then(|body| find(body, &expectation.path));
            let element = element.ok_or_else(|| unexpected(&format!("{name} is in the reply"), NOT_THERE))?;
            if wanted.equals.as_ref().is_some_and(|equals| !equals.equals(element)) {
                return Err(unexpected(&format!("{name} is what the plan says"), "it is something else"));
            }
            if let Some(value) = &wanted.value
                && !values.constant(value).is_some_and(|value| value.is_written_as(element))
            {
                return Err(unexpected(&format!("{name} is what was asked for"), "it is something else"));
            }
            judge_text(expectation, wanted.pattern.as_ref(), &name, text_of(element))?;
            element.number()
        }
    };
    let is_below = |min: f64| number.is_none_or(|number| number < min);
    let is_above = |max: f64| number.is_none_or(|number| number > max);
    let bound = match (expectation.min, expectation.max) {
        (Some(min), Some(max)) if is_below(min) || is_above(max) => {
            if is_below(max) == is_above(min) {
                format!("is {min} to {max}")
            } else {
                format!("is {min}")
            }
        }
        (Some(min), None) if is_below(min) => format!("is at least {min}"),
        (None, Some(max)) if is_above(max) => format!("is at most {max}"),
        _ => return Ok(()),
    };
    let found = number.map_or_else(|| "it is no number".to_owned(), |number| format!("it is {number}"));
    Err(unexpected(&format!("{name} {bound}"), &found))
}

/// The text that an element is.
fn text_of(element: RawElement<'_>) -> Option<&str> {
    element.string().and_then(|bytes| str::from_utf8(bytes).ok())
}

/// Judges what an expectation says of a text; `text` is that which was found, if it is one.
fn judge_text(
    expectation: &Expectation,
    pattern: Option<&Regex>,
    name: &str,
    text: Option<&str>,
) -> Result<(), Failure> {
    if let Some(pattern) = pattern
        && !text.is_some_and(|text| pattern.is_match(text))
    {
        return Err(unexpected(&format!("{name} matches {pattern}"), "it does not"));
    }
    if let Some(part) = &expectation.contains
        && !text.is_some_and(|text| text.contains(part.as_str()))
    {
        return Err(unexpected(&format!("{name} contains {part:?}"), "it does not"));
    }
    Ok(())
}

fn unexpected(expected: &str, found: &str) -> Failure {
    let message = format!("expected that {expected}, but {found}");
    Failure { label: expected.to_owned(), ..Failure::new(FailureClass::Unexpected, message) }
}

fn constant(hex: Option<&str>, path: &str) -> Result<Option<Constant>, PlanError> {
    let Some(hex) = hex else { return Ok(None) };
    let element = constant_of_hex(hex).map_err(|error| PlanError::inside(path, &error))?;
    Ok(Some(Constant::new(&element)))
}

fn regex(pattern: Option<&str>, path: &str) -> Result<Option<Regex>, PlanError> {
    let made = pattern.map(|pattern| RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build());
    made.transpose().map_err(|error| PlanError::new(path, error.to_string()))
}

impl Constant {
    /// Of the type's byte and the bytes of a whole element.
    fn new(element: &[u8]) -> Self {
        let mut document = Vec::new();
        let mut writer = Writer::new(&mut document);
        let open = writer.begin_document();
        writer.buffer().extend_from_slice(&[element[0], 0]);
        writer.buffer().extend_from_slice(&element[1..]);
        writer.end_document(open);
        Self(document)
    }

    fn element(&self) -> Option<RawElement<'_>> {
        find(&self.0, &[""])
    }

    /// Whether an element is equal to it, or one of the two is a number and the other that number as text: of files, and in paths, all
    /// values are texts.
    fn is_written_as(&self, element: RawElement<'_>) -> bool {
        let is_number = |text: Option<&str>, of: RawElement<'_>| match of.integer() {
            Some(integer) => text.is_some_and(|text| text.parse() == Ok(integer)),
            None => of.number().is_some_and(|number| text.is_some_and(|text| text.parse() == Ok(number))),
        };
        let is_so = |own| is_number(text_of(own), element) || is_number(text_of(element), own);
        self.equals(element) || self.element().is_some_and(is_so)
    }

    /// Whether an element is equal to it: numbers whatever their type, all else byte by byte.
    fn equals(&self, element: RawElement<'_>) -> bool {
        self.element().is_some_and(|own| {
            let is_same = element.type_byte() == own.type_byte() && element.bytes() == own.bytes();
            is_same || are_equal_numbers(own, element)
        })
    }
}

/// Whether two elements are the same number. Integers are compared as such: beyond 2^53 several of them are one double.
fn are_equal_numbers(one: RawElement<'_>, other: RawElement<'_>) -> bool {
    const INTEGERS: [u8; 2] = [ElementType::Int32 as u8, ElementType::Int64 as u8];
    if [one, other].iter().all(|element| INTEGERS.contains(&element.type_byte())) {
        return one.integer() == other.integer();
    }
    one.number().zip(other.number()).is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}
