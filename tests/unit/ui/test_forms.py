"""A filled form becomes the words that a person would type, and nothing else does."""

import pytest

from brimline.cli.app import VERBS
from brimline.cli.verb_forms import STARTED, verb_forms
from brimline.errors import UsageError
from brimline.report.language.translator import catalogue
from brimline.ui.forms import OWN_TEXT, TEXT_OF, Field, Filled, VerbForm, filled

FORMS = {form.name: form for form in verb_forms()}
RUN = FORMS["run"]


def words(*given: tuple[str, str], form: VerbForm = RUN) -> tuple[tuple[str, ...], tuple[str, ...]]:
    made = filled(form, given)
    return made.options, made.arguments


def test_there_is_a_form_of_each_verb_that_measures() -> None:
    assert list(FORMS) == [" ".join(each) for each in STARTED]
    assert {each[0] for each in STARTED} <= set(VERBS)
    for form in FORMS.values():
        names = [field.name for field in form.fields]
        assert len(names) == len(set(names))
        assert not {"--uri", "--password-file", "--runs-dir", "--json", "--resume"} & set(names)
        assert all(field.is_argument or field.name.startswith("--") for field in form.fields)


def test_options_are_one_word_with_their_values_and_arguments_stand_apart() -> None:
    given = [
        ("WORKLOAD", "ycsb-a"),
        ("--rate", "500/s"),
        ("--null", "on"),
        ("--slo", "p95=5ms\r\nmean=2ms\n\n"),
        ("--p99", ""),
    ]
    options, arguments = words(*given)
    assert set(options) == {"--null", "--rate=500/s", "--slo=p95=5ms", "--slo=mean=2ms"} and arguments == ("ycsb-a",)


def test_what_is_as_it_is_anyway_is_not_said() -> None:
    assert words(("--cache-gb", "1.0"), ("WORKLOAD", "ycsb-a"))[0] == ()


def test_a_text_of_ones_own_is_no_word() -> None:
    made = filled(RUN, [("WORKLOAD", OWN_TEXT), (f"WORKLOAD{TEXT_OF}", "operations: {read: 1}\n")])
    assert made.documents == {0: "operations: {read: 1}"}
    with pytest.raises(UsageError, match="has no text"):
        filled(RUN, [("WORKLOAD", OWN_TEXT)])


def test_address_and_password_are_no_words() -> None:
    made = filled(RUN, [("uri", "mongodb://u:s3cret@h/"), ("password", "s3cret"), ("WORKLOAD", "ycsb-a")])
    assert (made.address, made.password) == ("mongodb://u:s3cret@h/", "s3cret")
    assert "s3cret" not in repr((made.options, made.arguments, made.documents))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("WORKLOAD", "/etc/passwd", "none of the shipped"),
        ("WORKLOAD", "--mongod=/bin/sh", "none of the shipped"),
        ("--mongod", "/bin/sh", "has no --mongod"),
        ("--password-file", "/etc/shadow", "has no --password-file"),
        ("--uri", "mongodb://h/", "has no --uri"),
        ("--resume", "x", "has no --resume"),
        ("nonsense", "x", "has no nonsense"),
        ("--rate", "1/s\n--mongod=/bin/sh", "is no value"),
        ("--rate", "\x00", "is no value"),
        ("--rate", "9" * 2001, "is no value"),
        ("--data", "everything", "none of the choices"),
        ("--vary", "server=mongodb://u:s3cret@h/", "holds a password"),
    ],
)
def test_what_the_form_does_not_have_is_refused(name: str, value: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as raised:
        words((name, value))
    assert "s3cret" not in raised.value.message


def test_a_value_may_be_long() -> None:
    assert words(("--rate", "9" * 2000))[0] == (f"--rate={'9' * 2000}",)


def test_a_value_that_looks_like_an_option_stays_one_word() -> None:
    assert words(("--rate", "--mongod=/bin/sh"))[0] == ("--rate=--mongod=/bin/sh",)


def test_arguments_that_are_text_stay_arguments() -> None:
    form = VerbForm(
        words=("x",), line="", fields=(Field(name="A", help="", kind="text", panel="Workload", is_argument=True),)
    )
    assert filled(form, [("A", "--b")]) == Filled(
        options=(), arguments=("--b",), documents={}, address=None, password=None
    )


def test_most_fields_are_explained_in_chinese_too() -> None:
    """What is put together, such as the list of versions, stays English."""
    known = catalogue("zh")
    for form in FORMS.values():
        helps = [field.help for field in form.fields]
        assert sum(each in known for each in helps) >= 0.7 * len(helps), [each for each in helps if each not in known]
        assert form.line in known and set(form.panels) <= known.keys()
