"""Owns the pages of JSON's keys: of every document, and of the files of a record."""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from brimline.spec.docstrings import docstrings_behind
from tools.reference.json_documents import Keys, keys_of
from tools.reference.markdown import code, page, plain, table
from tools.reference.meanings import MEANINGS
from tools.reference.server_columns import server_columns

_Maker = Callable[..., Any] | type
_SOURCE = "the functions that make the JSON; their meaning is in tools/reference/meanings"

_Places = Mapping[str, tuple[str, str]]
"""By the heading of a document: the function that makes it, or its type, and where the document is met."""

_DOCUMENTS: _Places = {
    "A run or a load": ("report.run.as_json:run_document", "From `run`, `load`, and `analysis.json` of either"),
    "A capacity search": ("report.search.as_json:capacity_document", "From `capacity`"),
    "An SLO frontier": ("report.search.as_json:frontier_document", "From `capacity` with several limits of one metric"),
    "A sweep": ("report.search.as_json:sweep_document", "From `sweep`"),
    "A factor sweep": ("report.vary.as_json:vary_document", "From `sweep --vary`"),
    "Growth": ("report.growth.as_json:growth_document", "From `grow`"),
    "A failover": ("report.failover.as_json:failover_document", "From `failover`"),
    "A scan": ("report.scan.as_json:scan_document", "From `scan`"),
    "A soak": ("report.soak.as_json:soak_document", "From `soak`"),
    "A comparison": ("report.comparison.as_json:comparison_document", "From `ab` and `compare`"),
    "Interference": (
        "report.comparison.interference_view:interference_document",
        "From `interfere`, beside the keys of a comparison",
    ),
    "Trends": ("report.comparison.as_json:trend_document", "From `trend`"),
    "A backup": ("dataset.backup.summary:backup_document", "From `backup`, and in its directory"),
    "A restore": ("dataset.backup.restore:restore_document", "From `restore`"),
    "Imported results": ("compat.imported.view:imported_document", "From `import-results`"),
    "An import of data": ("report.data_import.view:import_document", "From `import`"),
    "Several loads": ("api.results:Loads.to_dict", "From `load` of a workload with several collections"),
    "Nothing left to load": ("api.results:AlreadyLoaded.to_dict", "From `load --resume`, where all is there"),
    "Every report": (
        "report.lint_section:lint_document",
        "In the document of every report",
    ),
    "Rows": ("api.generate:GenerateResult.to_dict", "From `generate`"),
    "Lint": ("api.lint:LintResult.to_dict", "From `lint`"),
    "List": ("cli.list_:_document", "From `list`"),
    "Doctor": ("cli.doctor:_document", "From `doctor`"),
    "Workloads": ("cli.workloads:_document", "From `workloads`"),
    "Labs": ("cli.lab:_document", "From `lab up`, `lab status`, and a list of them `lab list`"),
    "An error": ("cli.output:error_document", "From every verb with `--json` that ends with an error"),
}

_FILES: _Places = {
    "record.json of a run": ("record.writer:run_state", "Of every run, and of every trial that is one"),
    "operations.csv": ("record.model:OperationRow", "A row for each operation, phase and interval"),
    "steps.csv": ("record.model:StepRow", "A row for each step, phase and interval, of operations that have several"),
    "plans.json": ("record.plans:StepPlan", "How the server executes a step, in the lists `start` and `end`"),
    "intervals.csv": ("record.model:IntervalRow", "A row for each interval"),
    "nodes.csv": ("record.model:NodeRow", "A row for each node and interval, where several shared the run"),
    "nodes.csv of an import": (
        "record.data_import:ImportNodeRow",
        "A row for each node and interval, where several shared the import",
    ),
    "experiment.json": ("record.experiment:experiment_state", "Of every experiment"),
    "environment.json": ("record.environment:capture_environment", "Of every run and every experiment"),
    "record.json of an import": ("record.data_import:import_state", "From `import`"),
    "record.json of imported results": ("record.imported_files:imported_state", "From `import-results`"),
}


_TAGS = """## latency.hlog

Logs of HdrHistogram, version 1.3: a line for each interval and tag. A tag is `<operation>.<clock>`, of a step
`<operation>/<step>.service`; operations of the warm-up have `.warmup` behind it. In the names of operations and steps
blanks, commas, points, slashes, `%` and `=`, and what can't be printed, are percent-encoded UTF-8, as in
`place_order/find%20customers.service`: no tag holds what ends one for a public reader.
"""


def json_page() -> str:
    """The text of the page."""
    return page(
        "Keys of JSON",
        "`--json` prints one document on standard output. The same document lies beside a record, as `analysis.json`. "
        "Every key has its unit in its name, such as `_ns`, `_s`, `_ops_per_s`, `_bytes` or `_share`; a share is of 1. "
        "What is not known is null. A `<name>` stands for a name or a figure that is filled in.",
        "`brimline stat --json` prints a line for each look, with the [columns](../guides/stat.md) as keys.",
        *_sections(_DOCUMENTS),
        source=_SOURCE,
    )


def files_page() -> str:
    """The text of the page."""
    return page(
        "Files of a record",
        "What was measured is in files that any tool reads. Which files a record has is in "
        "[the architecture](../../ARCHITECTURE.md#the-run-directory). "
        "Times are in ns, on the run's clock unless a key says `unix`.",
        *_sections(_FILES),
        _TAGS,
        *server_columns(),
        source=_SOURCE,
    )


def _sections(places: _Places) -> list[str]:
    titles = _titles(places)
    return [part for maker, title in titles.items() for part in _section(maker, title, titles, places)]


def without_meaning() -> list[str]:
    """Keys that have no meaning; there must be none."""
    return sorted(
        f"{maker.__name__}.{path}"
        for maker in _all_makers()
        for path, _, meaning in _rows(maker, keys_of(maker), {}, "")
        if not meaning
    )


def left_over() -> list[str]:
    """Meanings of keys that no document has; there must be none."""
    used = {name for maker in _all_makers() for name in _used(maker.__name__, keys_of(maker))}
    return sorted(set(MEANINGS) - used)


def documents() -> dict[_Maker, str]:
    """Each document of `--json` and each part of one, with its heading."""
    return _titles(_DOCUMENTS)


def document_makers() -> dict[_Maker, str]:
    """The documents themselves, each with where it is met."""
    return {_found(place): where for place, where in _DOCUMENTS.values()}


def _all_makers() -> dict[_Maker, str]:
    return {**_titles(_DOCUMENTS), **_titles(_FILES)}


def _used(maker: str, keys: Keys) -> Iterator[str]:
    for name, held in keys.held.items():
        qualified = f"{maker}.{name}"
        yield qualified if qualified in MEANINGS else name
        for each in held:
            if isinstance(each, Keys):
                yield from _used(maker, each)


def _titles(places: _Places) -> dict[_Maker, str]:
    """Each document and each part of one, in the order in which they are met, with its heading."""
    titles: dict[_Maker, str] = {}
    parts: list[_Maker] = []
    for title, (place, _) in places.items():
        titles[_found(place)] = title
    for maker in list(titles):
        parts += _below(maker, titles, parts)
    for part in parts:
        word = part.__name__.strip("_").removesuffix("_document").removesuffix("_fields").replace("_", " ")
        name = part.__qualname__.partition(".")[0] if word in ("to dict", "named") else word
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        heading = f"{words[:1].upper()}{words[1:]}"
        taken = set(titles.values())
        titles[part] = heading if heading not in taken else f"{heading} ({part.__module__.split('.')[-2]})"
    return titles


def _below(maker: _Maker, titles: Mapping[_Maker, str], known: list[_Maker]) -> list[_Maker]:
    found: list[_Maker] = []

    def visit(keys: Keys) -> None:
        for each in [*(each for held in keys.held.values() for each in held), *keys.also]:
            if isinstance(each, Keys):
                visit(each)
            elif each not in titles and each not in known and each not in found:
                found.append(each)
                visit(keys_of(each))

    visit(keys_of(maker))
    return found


def _found(place: str) -> _Maker:
    module, _, name = place.partition(":")
    found: Any = import_module(f"brimline.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    maker: _Maker = found
    return maker


def _section(maker: _Maker, title: str, titles: Mapping[_Maker, str], places: _Places) -> Iterator[str]:
    keys = keys_of(maker)
    where = places.get(title)
    yield f"## {title}"
    yield f"{where[1]}." if where else ""
    if isinstance(maker, type):
        yield plain(keys.docstring.partition("\n\n")[0])
    rows = [(code(path), plain(meaning), held) for path, held, meaning in _rows(maker, keys, titles, "")]
    yield table(("Key", "Meaning", "Holds"), rows)
    yield "\n".join(f"- And the keys of {_link(each, titles)}." for each in keys.also)


def _rows(maker: _Maker, keys: Keys, titles: Mapping[_Maker, str], before: str) -> Iterator[tuple[str, str, str]]:
    for name, held in keys.held.items():
        path, meaning = f"{before}{name}", meaning_of(maker, name)
        links = [_link(each, titles) for each in held if not isinstance(each, Keys)]
        inner = [each for each in held if isinstance(each, Keys)]
        also = [_link(other, titles) for each in inner for other in each.also]
        yield path, ", ".join([*links, *also]), meaning
        for each in inner:
            yield from _rows(maker, each, titles, f"{path}.")


def meaning_of(maker: _Maker, name: str) -> str:
    """What a key of a document means; "" where that is said nowhere."""
    behind = docstrings_behind(maker) if isinstance(maker, type) else {}
    return _together(MEANINGS.get(f"{maker.__name__}.{name}") or MEANINGS.get(name, ""), behind.get(name, ""))


def _together(meaning: str, comment: str) -> str:
    """What a key means, and what stands behind it in the code."""
    if not meaning or not comment:
        return meaning or f"{comment[:1].upper()}{comment[1:]}"
    return f"{meaning.removesuffix('.')} ({comment.removesuffix('.')})."


def _link(maker: _Maker, titles: Mapping[_Maker, str]) -> str:
    title = titles.get(maker, "")
    anchor = "".join(each for each in title.lower() if each.isalnum() or each in " -_").replace(" ", "-")
    return f"[{title[:1].lower()}{title[1:]}](#{anchor})" if title else ""
