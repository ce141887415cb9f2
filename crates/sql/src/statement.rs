//! Owns the statements of a plan: told apart once, and shared by all connections.

use brimline_bson::{Reader, Value};
use brimline_net::protocol::{Step as StepOf, StepError};
use serde::{Deserialize, Serialize};

/// Most values that a statement takes; what both protocols count in 16 bits.
const VALUES_MAX: usize = 65_535;

/// The statement of a step, as plans have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementSpec {
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Texts in place of one, of which the step's first value says which: its number from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// How it is sent.
    pub mode: Mode,
}

/// A step with a statement.
pub type StatementStep = StepOf<StatementSpec>;

/// How a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Prepared once for each connection, with values as its parameters.
    Prepared,
    /// As text, without values.
    Text,
    /// As text that ends with `VALUES`, behind which stand the rows of its one value, a list of lists, as literals.
    Rows,
}

/// The statements of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    steps: Vec<Step>,
    prepared: Vec<Prepared>,
}

/// A statement that each connection prepares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Name of its step.
    pub step: String,
    /// Its text.
    pub text: String,
    /// How many parameters its step gives it.
    pub parameters: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// One of `count` prepared statements from `first` on.
    Prepared {
        first: usize,
        count: usize,
        is_chosen: bool,
    },
    /// One of these texts.
    Text {
        texts: Vec<String>,
        is_chosen: bool,
    },
    Rows {
        text: String,
    },
}

/// What is to be sent.
#[derive(Debug)]
pub enum Chosen<'r, 'v> {
    /// The prepared statement of this number, with these values.
    Prepared(usize, Reader<'v>),
    /// This text.
    Text(&'r str),
    /// This text and rows behind it: an array of arrays.
    Rows(&'r str, &'v [u8]),
}

impl Requests {
    /// Compiles the steps of a plan.
    ///
    /// # Errors
    /// When a step has no statement, or brings values where its statement takes none.
    pub fn new(steps: &[StatementStep]) -> Result<Self, StepError> {
        let mut requests = Self::default();
        for (step, spec) in steps.iter().enumerate() {
            requests.add(spec).map_err(|message| StepError { step, message: message.to_owned() })?;
        }
        Ok(requests)
    }

    fn add(&mut self, spec: &StatementStep) -> Result<(), &'static str> {
        let StatementSpec { text, texts, mode } = &spec.request;
        let (texts, is_chosen) = match (text, texts.as_slice()) {
            (Some(text), []) => (std::slice::from_ref(text), false),
            (None, texts @ [_, ..]) => (texts, true),
            _ => return Err("must have either a text or texts"),
        };
        if texts.iter().any(|text| text.trim().is_empty() || text.contains('\0')) {
            return Err("has a statement that is empty or holds a NUL");
        }
        let parameters = spec.slots.checked_sub(usize::from(is_chosen));
        let parameters = parameters.ok_or("has several texts, and no value that says which")?;
        let step = match mode {
            Mode::Prepared if parameters > VALUES_MAX => return Err("has more than 65 535 values"),
            Mode::Prepared => {
                let first = self.prepared.len();
                self.prepared.extend(texts.iter().map(|text| Prepared {
                    step: spec.name.clone(),
                    text: text.clone(),
                    parameters,
                }));
                Step::Prepared { first, count: texts.len(), is_chosen }
            }
            Mode::Text if parameters > 0 => return Err("is sent as text, which takes no values"),
            Mode::Text => Step::Text { texts: texts.to_vec(), is_chosen },
            Mode::Rows if is_chosen || parameters != 1 => {
                return Err("takes one text and one value, the list of its rows");
            }
            Mode::Rows => Step::Rows { text: texts[0].clone() },
        };
        self.steps.push(step);
        Ok(())
    }

    /// Statements that each connection prepares, in the order of their numbers.
    pub fn prepared(&self) -> &[Prepared] {
        &self.prepared
    }

    /// What the step of this number sends with `values`, a BSON array.
    ///
    /// # Errors
    /// When the plan has no such step, or the values don't fit it.
    pub fn choose<'r, 'v>(&'r self, step: u16, values: &'v [u8]) -> Result<Chosen<'r, 'v>, String> {
        let step = self.steps.get(usize::from(step)).ok_or("the plan has no such step")?;
        let mut values = Reader::new(values).map_err(|error| error.to_string())?;
        let mut which = |count: usize, is_chosen: bool| {
            if !is_chosen {
                return Ok(0);
            }
            let value = values.next_element().ok().flatten().and_then(|element| element.value.as_i64());
            let index = value.and_then(|index| usize::try_from(index).ok()).filter(|&index| index < count);
            index.ok_or_else(|| format!("which of {count} statements is meant is not a number below that"))
        };
        match step {
            Step::Prepared { first, count, is_chosen } => {
                let statement = first + which(*count, *is_chosen)?;
                Ok(Chosen::Prepared(statement, values))
            }
            Step::Text { texts, is_chosen } => Ok(Chosen::Text(&texts[which(texts.len(), *is_chosen)?])),
            Step::Rows { text } => match values.next_element() {
                Ok(Some(element)) => match element.value {
                    Value::Array(rows) => Ok(Chosen::Rows(text, rows)),
                    _ => Err("the rows are no list".to_owned()),
                },
                _ => Err("the rows are missing".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(texts: &[&str], mode: Mode, slots: usize) -> StatementStep {
        let (text, texts) = match texts {
            [text] => (Some((*text).to_owned()), Vec::new()),
            texts => (None, texts.iter().map(|&text| text.to_owned()).collect()),
        };
        StatementStep { name: "s".to_owned(), request: StatementSpec { text, texts, mode }, slots }
    }

    fn array(values: bson::Bson) -> Vec<u8> {
        let bytes = bson::doc! { "v": values }.to_vec().unwrap();
        let Some(Value::Array(array)) = Reader::new(&bytes).unwrap().find("v").unwrap() else { panic!() };
        array.to_vec()
    }

    #[test]
    fn the_first_value_says_which_of_several() {
        let specs = [
            spec(&["BEGIN"], Mode::Text, 0),
            spec(&["UPDATE a", "UPDATE b"], Mode::Prepared, 3),
            spec(&["x", "y"], Mode::Text, 1),
        ];
        let requests = Requests::new(&specs).unwrap();
        assert_eq!(requests.prepared().iter().map(|each| each.parameters).collect::<Vec<_>>(), [2, 2]);
        let values = array(bson::bson!([1, "v", "k"]));
        let Ok(Chosen::Prepared(1, mut rest)) = requests.choose(1, &values) else { panic!() };
        assert_eq!(rest.next_element().unwrap().unwrap().value, Value::String(b"v"));
        assert!(matches!(requests.choose(0, &array(bson::bson!([]))), Ok(Chosen::Text("BEGIN"))));
        assert!(matches!(requests.choose(2, &array(bson::bson!([1_i64]))), Ok(Chosen::Text("y"))));
        for values in [bson::bson!([2]), bson::bson!([-1]), bson::bson!(["1"]), bson::bson!([])] {
            assert!(requests.choose(1, &array(values)).is_err());
        }
        assert!(requests.choose(3, &array(bson::bson!([]))).is_err());
        assert!(requests.choose(0, b"\x05\0\0").is_err());
    }

    #[test]
    fn steps_that_can_t_be_sent_are_refused_by_number() {
        for (bad, words) in [
            (spec(&[], Mode::Text, 0), "either"),
            (spec(&[" "], Mode::Text, 0), "empty"),
            (spec(&["a\0"], Mode::Text, 0), "NUL"),
            (spec(&["a"], Mode::Text, 1), "no values"),
            (spec(&["a", "b"], Mode::Prepared, 0), "says which"),
            (spec(&["a"], Mode::Rows, 2), "list of its rows"),
            (spec(&["a"], Mode::Prepared, 65_536), "65 535"),
        ] {
            let error = Requests::new(&[spec(&["ok"], Mode::Text, 0), bad]).unwrap_err();
            assert!(error.step == 1 && error.message.contains(words), "{error}");
        }
    }

    #[test]
    fn statements_are_those_of_a_plan() {
        let one: StatementSpec = serde_json::from_str(r#"{"text": "SELECT 1", "mode": "text"}"#).unwrap();
        assert_eq!((one.text.as_deref(), one.mode), (Some("SELECT 1"), Mode::Text));
        let more: StatementSpec =
            serde_json::from_str(r#"{"texts": ["a", "b"], "mode": "prepared"}"#).unwrap();
        assert_eq!(more.texts, ["a", "b"]);
    }
}
