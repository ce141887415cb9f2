"""What a study may say, and what is refused with its line."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from brimline.errors import BrimlineError, UsageError
from brimline.experiments.vary.factor_kinds import ALIASES
from brimline.spec.document import parse_document
from brimline.study.commands import command_of, with_files
from brimline.study.figures import references
from brimline.study.order_service import at_scale
from brimline.study.scale import CI, Scale, Scaled, parse_scale
from brimline.study.schema import study_schema
from brimline.study.secrets import storable
from brimline.study.spec import in_words, languages_lacking, load_study, read_study, shipped_studies

OWN_AXES = {"grow": {"indexes", "records", "queries", "connections"}, "interfere": {"side"}}
"""Of figures of a verb's own report, where nothing is varied."""
STUDY = """\
name: two-runs
title: {{en: Two runs, zh: 两次运行}}
purpose: [{{en: To see., zh: 为了看。}}]
files:
  rows: {{workload: bulk-rows, rows: {{full: 10M, ci: 2k}}}}
experiments:
  - name: first
    title: First
    verb: run
    workload: ycsb-b
    options: {{records: {{full: 10M, ci: 1k}}, connections: [1, 8], quiet: true, drop: false}}
    vary: {{field-length: [100, 1000]}}
    {more}
"""


def read(more: str = "text: []") -> object:
    return read_study(STUDY.format(more=more), "mine.yaml", directory=Path())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("text: ['It answers {first throughput}, which is 15 % more.']", '"15" is typed'),
        ("text: ['See {second throughput}.']", "not there: second"),
        ("txt: []", "mine.yaml:13: experiments[0].txt: unknown key"),
        ("server: shop", "no server shop"),
        ("needs: [oracle]", "no optional part oracle"),
        ("name: again", "occurs twice"),
    ],
)
def test_what_a_study_cannot_say_is_refused(more: str, said: str) -> None:
    with pytest.raises(BrimlineError, match=r"mine\.yaml") as refused:
        read(more)
    assert said in str(refused.value)


def test_words_follow_from_the_scale() -> None:
    study = read_study(STUDY.format(more="text: []"), "mine.yaml", directory=Path())
    (experiment,) = study.spec.experiments
    said = {scale: command_of(study, experiment, scale, {}).words for scale in (CI, Scale(0.01), Scale(1.0))}
    common = ("--connections", "1,8", "--quiet", "--vary", "field-length=100,1000")
    assert said[CI] == ("run", "ycsb-b", "--records", "1k", *common)
    assert said[Scale(0.01)] == ("run", "ycsb-b", "--records", "100k", *common)
    assert said[Scale(1.0)] == ("run", "ycsb-b", "--records", "10M", *common)


@pytest.mark.parametrize(
    ("value", "fraction", "expected"),
    [
        (Scaled(full="500M", ci="12k"), 0.0237, "11M"),
        (Scaled(full="500M", ci="12k"), 1e-6, "12k"),
        (Scaled(full="60s", ci="300ms"), 0.1, "6s"),
        (Scaled(full="60s", ci="300ms", auto="5s"), 0.1, "5s"),
        (Scaled(full="10M", ci="2k", between="25M"), 0.01, "250k"),
        (Scaled(full="10M", ci="2k", between="25M"), 1.0, "10M"),
        (Scaled(full=[1, 8], ci=[1]), 0.5, [1, 8]),
        (Scaled(full=30, ci=4), 0.01, 4),
    ],
)
def test_a_value_is_a_fraction_of_the_full_one_and_no_less_than_in_ci(
    value: Scaled, fraction: float, expected: object
) -> None:
    assert value.at(Scale(fraction)) == expected


@pytest.mark.parametrize(("text", "scale"), [("ci", CI), ("1", Scale(1.0)), ("0.01", Scale(0.01)), ("auto", None)])
def test_what_a_scale_is(text: str, scale: Scale | None) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize("text", ["0", "2", "-1", "nan", "large"])
def test_what_is_no_scale_is_refused(text: str) -> None:
    with pytest.raises(BrimlineError, match="is no scale"):
        parse_scale(text)


def test_a_file_of_rows_is_put_in_where_it_is_named() -> None:
    assert with_files(("import", "{rows}", "--with=import:{rows}"), {"rows": Path("/a/rows.csv")}) == [
        "import",
        "/a/rows.csv",
        "--with=import:/a/rows.csv",
    ]


@pytest.mark.parametrize("name", shipped_studies())
def test_shipped_studies_are_written_in_both_languages(name: str) -> None:
    spec = load_study(name).spec
    assert spec.name == name
    assert languages_lacking(spec) == []
    assert all(isinstance(words, dict) for each in spec.experiments for words in (each.title, *each.text))


@pytest.mark.parametrize("name", shipped_studies())
def test_shipped_prose_names_factors_as_reports_do(name: str) -> None:
    """A level of a factor that no figure has could never be written."""
    spec = load_study(name).spec
    factors = {each.name: {ALIASES.get(factor, factor) for factor in each.vary} for each in spec.experiments}
    own = {each.name: OWN_AXES.get(each.verb, set()) for each in spec.experiments if not each.vary}
    for words in (*spec.advice, *(text for each in spec.experiments for text in each.text)):
        for language in ("en", "zh"):
            for found in references.finditer(in_words(words, language)):
                axes = {word.partition("=")[0] for word in found["what"].split() if "=" in word}
                assert axes <= factors[found["name"]] | own.get(found["name"], set()), found[0]


@pytest.mark.parametrize("name", shipped_studies())
def test_shipped_advice_depends_on_a_figure_that_was_measured(name: str) -> None:
    """So that none is given where its experiment was left out, and the best of what was tried is no plateau."""
    for words in load_study(name).spec.advice:
        for language in ("en", "zh"):
            text = in_words(words, language)
            assert references.search(text), text
            if " max at-" in text:
                assert {"en": "tried", "zh": "试过"}[language] in text, text


def test_prose_without_a_language_is_taken_as_it_is() -> None:
    assert in_words("as is", "zh") == "as is"
    assert in_words({"en": "so"}, "zh") == "so"


@pytest.mark.parametrize("path", shipped_studies().values(), ids=lambda path: path.stem)
def test_the_schema_takes_what_is_shipped(path: Path) -> None:
    Draft202012Validator(study_schema()).validate(parse_document(path.read_text(encoding="utf-8"), path.name).values)


@pytest.mark.parametrize("slip", [{"experiments": []}, {"prupose": []}, {"title": 5}])
def test_the_schema_refuses_what_the_reader_refuses(slip: dict[str, object]) -> None:
    values = parse_document(STUDY.format(more="text: []"), "mine.yaml").values
    schema = Draft202012Validator(study_schema())
    assert schema.is_valid(values)
    assert not schema.is_valid({**values, **slip})


@pytest.mark.parametrize(
    ("missing", "lacks", "left_out", "levels"),
    [
        (("4.4", "5.0", "6.0"), "server-version 4.4,5.0,6.0", [], "4.4,5.0,6.0"),
        (("4.4", "5.0"), "server-version 4.4,5.0", [], "4.4,5.0,6.0"),
        (("5.0",), None, ["server-version 5.0"], "4.4,6.0"),
        ((), None, [], "4.4,5.0,6.0"),
    ],
)
def test_what_cannot_be_compared_here_is_left_out_by_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], lacks: str | None, left_out: list[str], levels: str
) -> None:
    def find_mongod(*, server_version: str) -> None:
        if server_version in missing:
            raise UsageError(f"{server_version} can't be fetched", hint="connect to the network")

    monkeypatch.setattr("brimline.study.needs.find_mongod", find_mongod)
    text = STUDY.format(more="text: []").replace("field-length: [100, 1000]", 'server-version: ["4.4", "5.0", "6.0"]')
    study = read_study(text, "mine.yaml", directory=Path())
    command = command_of(study, study.spec.experiments[0], CI, {})
    assert (None if command.lacks is None else command.lacks.name) == lacks
    assert [each.name for each in command.left_out] == left_out
    assert command.words[-1] == f"server-version={levels}"


@pytest.mark.parametrize(
    "options",
    [
        "{uri: 'mongodb://app:s3cret@db/'}",
        "{uri: 'mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret'}",
        "{tls-key-password: s3cret}",
        "{uri: {full: 'mongodb://app:s3cret@db/', ci: 'mongodb://db/'}}",
    ],
)
def test_a_password_in_a_study_is_refused_and_never_said(options: str) -> None:
    text = STUDY.format(more="text: []")
    start = text.index("options: ")
    text = text[:start] + f"options: {options}" + text[text.index("\n", start) :]
    with pytest.raises(BrimlineError, match="holds a password") as refused:
        read_study(text, "mine.yaml", directory=Path())
    assert "password-file: FILE" in str(refused.value.hint)
    assert "s3cret" not in f"{refused.value} {refused.value.hint}"


def test_a_user_and_a_file_with_the_password_are_no_secret() -> None:
    options = "{uri: 'mongodb://app@db/?tls=true', password-file: secret.txt, shard-key: key}"
    text = STUDY.format(more="text: []").replace("vary: {field-length: [100, 1000]}", "at_ci: true")
    start = text.index("options: ")
    text = text[:start] + f"options: {options}" + text[text.index("\n", start) :]
    study = read_study(text, "mine.yaml", directory=Path())
    words = command_of(study, study.spec.experiments[0], CI, {}).words
    assert storable(words) == list(words)


def test_orders_of_a_service_follow_the_scale() -> None:
    orders = {"full": "1M", "ci": 100}
    assert [at_scale(orders, scale) for scale in (CI, Scale(0.01), Scale(1.0))] == [100, 10_000, 1_000_000]
    assert at_scale("2k", CI) == 2000
