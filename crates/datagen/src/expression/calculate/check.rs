//! Owns what is known of a calculation before it is done: whether an operator can take its operands, and the types of what it makes.

use super::operand::Operand;
use crate::expression::dates::{DatePart, Unit};
use crate::expression::node::Expression;
use crate::expression::operator::Operator;
use crate::expression::types::Types;

/// The types of what an operator makes.
///
/// # Errors
/// The operand that it can't take, and why.
pub fn check(operator: Operator, of: &[Expression]) -> Result<Types, (Option<usize>, String)> {
    for (place, operand) in of.iter().enumerate() {
        let (taken, words) = operator.takes(place);
        if operand.types.and(taken.or(Types::NULL)).is_empty() {
            return Err((
                Some(place),
                format!("{} takes {words}, not {}", operator.name(), operand.types.name()),
            ));
        }
    }
    match (operator, of) {
        (Operator::DateTrunc | Operator::DateCeil, [_, unit]) | (Operator::DateAdd, [_, _, unit]) => {
            let place = of.len() - 1;
            check_word(operator, place, unit, Unit::NAMES, |name| Unit::named(name).is_some())?;
        }
        (Operator::DatePart, [_, part]) => {
            check_word(operator, 1, part, DatePart::NAMES, |name| DatePart::named(name).is_some())?;
        }
        _ => {}
    }
    let null = if of.iter().all(|operand| operand.types.and(Types::NULL).is_empty()) {
        Types::NONE
    } else {
        Types::NULL
    };
    let all = of.iter().fold(Types::NONE, |types, operand| types.or(operand.types));
    Ok(null.or(operator.makes(all)))
}

fn check_word(
    operator: Operator,
    place: usize,
    word: &Expression,
    names: &str,
    is_known: fn(&[u8]) -> bool,
) -> Result<(), (Option<usize>, String)> {
    let name = match word.constant().map(|(type_byte, bytes)| Operand::new(type_byte, bytes)) {
        Some(Operand::Text(name)) => Some(name),
        _ => None,
    };
    if name.is_some_and(is_known) {
        return Ok(());
    }
    Err((Some(place), format!("{} takes {names} as a constant", operator.name())))
}
