"""Owns SimRunner's expressions of texts and bytes, and which of JavaFaker's there are."""

from typing import Any

from brimline.compat.simrunner.arguments import Arguments
from brimline.compat.simrunner.nodes import Constant, Form, Node, as_form
from brimline.init.translated import uuid_form

_FAKER = {
    "name.firstName": "first_name", "name.maleFirstName": "first_name", "name.femaleFirstName": "first_name",
    "name.lastName": "last_name", "name.name": "name", "name.fullName": "name", "name.username": "user_name",
    "address.city": "city", "address.cityName": "city", "address.state": "state", "address.stateAbbr": "state",
    "address.country": "country", "address.zipCode": "postcode", "address.fullAddress": "address",
    "address.streetAddress": "street", "address.streetName": "street", "lorem.word": "word",
    "lorem.words": "sentence", "lorem.sentence": "sentence",
    "lorem.paragraph": "paragraph", "internet.emailAddress": "email", "internet.safeEmailAddress": "email",
    "phoneNumber.phoneNumber": "phone", "phoneNumber.cellPhone": "phone", "company.name": "company",
    "company.industry": "industry", "job.title": "job",
}  # fmt: skip


def template_text(arguments: Arguments) -> Node:
    """`&` is a digit, `?` a small letter, `!` a capital one."""
    alphabets = {"&": "digits", "?": "lowercase", "!": "uppercase"}
    parts: list[Any] = []
    for each in str(arguments.given.get("template", "")):
        alphabet = alphabets.get(each)
        last = parts[-1] if parts else None
        if alphabet is None:
            parts[-1:] = [last + each] if isinstance(last, str) else [*parts[-1:], each]
        elif isinstance(last, dict) and last["alphabet"] == alphabet:
            last["length"] += 1
        else:
            parts.append({"kind": "string", "length": 1, "alphabet": alphabet})
    if not parts:
        return Constant("")
    return Form({"kind": "text", "parts": parts})


def concatenated(arguments: Arguments) -> Node:
    """Texts of values, with what separates them."""
    separator = arguments.given.get("sep") or ""
    return joined(arguments.nodes("of"), str(separator))


def joined(nodes: list[Node], separator: str) -> Node:
    """Texts of values one after the other."""
    operands: list[Any] = []
    for node in nodes:
        if operands and separator:
            operands.append(separator)
        operands.append(as_form(node))
    return Form({"concat": operands}) if operands else Constant("")


def text_of(arguments: Arguments) -> Node:
    """A value as text."""
    return Form({"text": as_form(arguments.node("of") or Constant(""))})


def trimmed(arguments: Arguments) -> Node:
    """A text without blanks at its ends."""
    return Form({"trim": {"text": as_form(arguments.node("of") or Constant(""))}})


def ngram(arguments: Arguments) -> Node:
    """The parts of a text, of each word apart."""
    of: Any = {"text": as_form(arguments.node("of") or Constant(""))}
    if arguments.given.get("split") is False:
        arguments.left.change(f"{arguments.path}.split", "parts of each word apart, not across blanks")
    if arguments.given.get("lowercase") is not False:
        of = {"lower": of}
    least = max(int(arguments.number("min", 3)), 1)
    words = Form({"kind": "array", "length": 10, "of": {"kind": "fake", "what": "word"}})
    return Form({"ngrams": {"of": of, "min": least}}, words)


def binary(arguments: Arguments) -> Node:
    """Bytes, or their hexadecimal text."""
    size = int(arguments.number("size", 512))
    if arguments.given.get("as") == "hex":
        return Form({"kind": "string", "length": 2 * size, "alphabet": "0123456789ABCDEF"})
    return Form({"kind": "binary", "length": size})


def uuid_text(arguments: Arguments) -> Node:  # noqa: ARG001
    """A UUID as text."""
    return Form(uuid_form())


def of_faker(operator: str, arguments: Arguments) -> Node:
    """An expression of JavaFaker's."""
    name = operator.removeprefix("%")
    if name in _FAKER:
        return Form({"kind": "fake", "what": _FAKER[name]})
    if name in ("address.latitude", "address.longitude"):
        most = 90.0 if name.endswith("latitude") else 180.0
        return Form({"text": {"kind": "double", "min": -most, "max": most, "decimals": 6}})
    arguments.left.lose(arguments.path, f"{operator} of JavaFaker; here a word")
    return Form({"kind": "fake", "what": "word"})
