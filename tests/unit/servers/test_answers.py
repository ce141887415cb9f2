"""What is kept and shown of a server's words: one short line, and documents of bounded length in JSON's types."""

import json

import bson
import pytest
from pymongo.errors import OperationFailure

from brimline.dataset.access import target_errors
from brimline.errors import TargetError
from brimline.servers.answers import Unkeepable, at, plain, refusal_name, refusal_words, words
from tests.support.lies import deep


def test_words_are_one_short_line() -> None:
    assert words("not\nprimary\r\n\x1b[31m") == "not primary \N{REPLACEMENT CHARACTER}[31m"
    assert len(words("x" * 10_000_000)) == 300
    assert words({"a": 1}) == "{'a': 1}"


def test_a_refusal_is_told_whatever_its_fields_are() -> None:
    odd = OperationFailure("x", 5, {"errmsg": ["a", "b"], "codeName": 7})
    assert refusal_words(odd) == "['a', 'b']"
    assert refusal_name(odd) == "7"
    assert refusal_words(OperationFailure("x", 5, None)) == refusal_name(OperationFailure("x", 5, None)) == "5"


@pytest.mark.parametrize("kind", ["writeErrors", "writeConcernErrors"])
def test_of_several_refusals_the_first_is_told(kind: str) -> None:
    refusals = [{"code": 64, "errmsg": "waiting for replication timed out"}, {"code": 11000, "errmsg": "E11000"}]
    assert refusal_words(OperationFailure("x", 65, {kind: refusals})) == "waiting for replication timed out"
    assert refusal_words(OperationFailure("x", 65, {kind: ["odd"]})) == "65"


def test_a_path_may_lead_nowhere() -> None:
    assert at({"a": {"b": 1}}, "a", "b") == 1
    assert at({"a": 5}, "a", "b") is None
    assert at(None, "a") is None


def test_documents_become_plain_values() -> None:
    kept = plain({"when": bson.DatetimeMS(0), "nan": float("nan"), "password": "x", "id": bson.ObjectId(b"0" * 12)})
    assert kept["password"] == "***"
    json.dumps(kept, allow_nan=False)


@pytest.mark.parametrize("document", [{"pad": "x" * 300_000}, {"a": [{}] * 100_000}, bson.decode(deep(900).raw)])
def test_documents_that_are_too_much_are_not_kept(document: dict[str, object]) -> None:
    with pytest.raises(Unkeepable):
        plain(document, length_max=1_000)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (
            "not authorized on shop to execute command { explain: { insert: 'a', documents: [ {} ] }, lsid: { id: "
            'UUID("1a2b") }, $clusterTime: { clusterTime: Timestamp(1, 1) }, $db: "shop" }',
            "not authorized on shop to execute the command explain",
        ),
        ("not authorized on a to execute command { ping: 1, $db:\n'a' }", "not authorized on a to execute the command ping"),  # noqa: E501
        ("Document failed validation { a: 1 }", "Document failed validation { a: 1 }"),
    ],
)  # fmt: skip
def test_a_missing_right_is_told_without_the_whole_command(told: str, kept: str) -> None:
    refusal = OperationFailure("x", 13, {"errmsg": told, "code": 13})
    assert refusal_words(refusal) == kept


@pytest.mark.parametrize(("code", "hint"), [(13, "the user lacks a role"), (2, "check that the server takes writes")])
def test_a_missing_right_has_a_hint_of_its_own(code: int, hint: str) -> None:
    with pytest.raises(TargetError) as refused, target_errors("inserting"):
        raise OperationFailure("x", code, {"errmsg": "not authorized on shop to execute command { insert: 'a' }"})
    assert hint in str(refused.value.hint)


def test_a_document_may_be_as_long_as_is_allowed() -> None:
    length = len(json.dumps({"a": "xyz"}))
    assert plain({"a": "xyz"}, length_max=length) == {"a": "xyz"}
    with pytest.raises(Unkeepable, match=f"too long: {length} characters"):
        plain({"a": "xyz"}, length_max=length - 1)
