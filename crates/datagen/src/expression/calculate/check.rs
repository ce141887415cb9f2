//! Owns what is known of a calculation before it is done: whether an operator can take its operands, and the types of what it makes.

use super::operand::Operand;
use crate::expression::dates::Unit;
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
    if operator == Operator::DateTrunc {
        check_unit(&of[1])?;
    }
    let null = if of.iter().all(|operand| operand.types.and(Types::NULL).is_empty()) {
        Types::NONE
    } else {
        Types::NULL
    };
    let all = of.iter().fold(Types::NONE, |types, operand| types.or(operand.types));
    Ok(null.or(operator.makes(all)))
}

fn check_unit(unit: &Expression) -> Result<(), (Option<usize>, String)> {
    let name = match unit.constant().map(|(type_byte, bytes)| Operand::new(type_byte, bytes)) {
        Some(Operand::Text(name)) => Some(name),
        _ => None,
    };
    match name.and_then(Unit::named) {
        Some(_) => Ok(()),
        None => Err((Some(1), format!("date_trunc takes {} as a constant", Unit::NAMES))),
    }
}
