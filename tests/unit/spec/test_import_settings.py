"""What an import is told: options that contradict each other, the write concern, what the engine gets."""

import pytest

from brimline.errors import UsageError
from brimline.spec.import_settings import ImportSettings, WriteConcernSettings, parse_write_concern


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"type": "xml"}, '--type can\'t be "xml"'),
        ({"type": "csv"}, "nothing says what the columns"),
        ({"type": "csv", "headerline": True, "fields": "a"}, "--headerline and --fields both name the columns"),
        ({"type": "json", "headerline": True}, "--headerline is for csv and tsv"),
        ({"type": "json", "ignore_blanks": True}, "--ignoreBlanks is for csv and tsv"),
        ({"type": "bson", "json_array": True}, "--jsonArray is for json"),
        ({"type": "csv", "headerline": True, "legacy": True}, "--legacy is for json"),
        ({"parse_grace": "nosuch"}, '--parseGrace can\'t be "nosuch"'),
        ({"mode": "replace"}, '--mode can\'t be "replace"'),
        ({"upsert_fields": ("k",)}, "--upsertFields"),
        ({"workers": 0}, "--numInsertionWorkers is 0"),
        ({"batch_size": 100_001}, "--batchSize is 100001"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        ImportSettings(**options)  # type: ignore[arg-type]
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "concern"),
    [
        ("majority", WriteConcernSettings()),
        ("2", WriteConcernSettings(w=2)),
        ("{w: 1, j: true}", WriteConcernSettings(w=1, journal=True)),
        ('{"w":"majority","wtimeout":500}', WriteConcernSettings(timeout_ms=500)),
        ("{w:'majority'}", WriteConcernSettings()),
        ("{ 'w' : 'majority', j:true, 'wtimeout': 500 }", WriteConcernSettings(journal=True, timeout_ms=500)),
        ("{'w': 2}", WriteConcernSettings(w=2)),
        ("{w: 'eu,us:'}", WriteConcernSettings(w="eu,us:")),
        ("{j: false}", WriteConcernSettings(w=None, journal=False)),
    ],
)
def test_a_write_concern_is_a_word_a_number_or_a_document(text: str, concern: WriteConcernSettings) -> None:
    assert parse_write_concern(text) == concern


@pytest.mark.parametrize("text", ["0", "{w: 0}", "{w: 1", "{x: 1}", "{w: true}", "{w:'majority}", "{'w:1}"])
def test_a_write_concern_that_can_not_be_followed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--writeConcern"):
        parse_write_concern(text)


def test_order_needs_one_connection() -> None:
    assert ImportSettings(workers=8).connections == 8
    assert ImportSettings(workers=8, maintain_insertion_order=True).connections == 1


def test_settings_come_back_from_a_record() -> None:
    settings = ImportSettings(
        type="tsv", fields="a,b", mode="merge", upsert_fields=("a",), write_concern=WriteConcernSettings(w=1)
    )
    assert ImportSettings.from_document(settings.to_document()) == settings
    assert settings.format_document["columns"] == {"fields": "a,b"}
