"""Owns the table of SimRunner's expressions that stand for themselves."""

from collections.abc import Callable, Mapping

from brimline.compat.simrunner import dates, numbers, structures, texts
from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, Reference

_OPERATORS: Mapping[str, Callable[[Arguments], Node]] = {
    "%objectid": lambda _: Form({"kind": "object_id"}),
    "%bool": lambda _: Form({"kind": "boolean"}),
    "%boolean": lambda _: Form({"kind": "boolean"}),
    "%integer": lambda given: numbers.whole("int", numbers.INT_MIN, numbers.INT_MAX, given),
    "%number": lambda given: numbers.whole("int", numbers.INT_MIN, numbers.INT_MAX, given),
    "%natural": lambda given: numbers.whole("int", 0, numbers.INT_MAX, given),
    "%long": lambda given: numbers.whole("long", numbers.LONG_MIN, numbers.LONG_MAX, given),
    "%double": numbers.double,
    "%float": numbers.double,
    "%decimal": numbers.decimal,
    "%sequence": lambda _: Reference("$index", Form({"kind": "sequence"})),
    "%threadSequence": lambda _: Reference("$index", Form({"kind": "sequence"})),
    "%iteration": lambda _: Reference("$index", Form({"kind": "sequence"})),
    "%threadNumber": lambda _: Reference("$worker", Constant(0)),
    "%gaussian": numbers.gaussian,
    "%abs": numbers.absolute,
    "%product": lambda given: numbers.reduced("multiply", given),
    "%sum": lambda given: numbers.reduced("add", given),
    "%mod": numbers.modulo,
    "%toInt": lambda given: numbers.converted("int", given),
    "%toLong": lambda given: numbers.converted("long", given),
    "%toFloat": lambda given: numbers.converted("double", given),
    "%toDouble": lambda given: numbers.converted("double", given),
    "%stringTemplate": texts.template_text,
    "%stringConcat": texts.concatenated,
    "%toString": texts.text_of,
    "%stringTrim": texts.trimmed,
    "%ngram": texts.ngram,
    "%now": lambda _: Reference("$now", Form({"kind": "clock", "start": "2025-01-01", "every": "1s"})),
    "%date": dates.date,
    "%date.birthday": dates.birthday,
    "%time": dates.time_of_day,
    "%plusDate": dates.plus_date,
    "%ceilDate": lambda given: dates.floor_date(given, up=True),
    "%floorDate": lambda given: dates.floor_date(given, up=False),
    "%extractDate": dates.part_of_date,
    "%binary": texts.binary,
    "%uuidString": texts.uuid_text,
    "%uuidBinary": lambda _: Form({"kind": "uuid"}),
    "%array": structures.array,
    "%keyValueMap": structures.mapped,
    "%oneOf": structures.one_of,
    "%head": structures.first,
    "%arrayElement": structures.element,
    "%longlat": structures.longlat,
}
_SEQUENCES = frozenset({"%sequence", "%threadSequence", "%iteration"})


def operated(operator: str, arguments: Arguments) -> Node:
    """What an expression becomes; one that is unknown is JavaFaker's."""
    if operator in _SEQUENCES:
        arguments.left.change(arguments.path, "the number of the operation, which ascends with gaps")
    known = _OPERATORS.get(operator)
    return known(arguments) if known is not None else texts.of_faker(operator, arguments)
