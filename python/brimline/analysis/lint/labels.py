"""Owns words: a conclusion must not name another kind of work than that of the results it is about."""

import re
from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Conclusion
from brimline.wording import message

_WORDS = {
    "read": re.compile(r"\b(?:reads?|reading|quer(?:y|ies)|finds?|scans?)\b|读|查询", re.IGNORECASE),
    "write": re.compile(r"\b(?:writ(?:es?|ing|ten)|inserts?|inserting|updates?|loads?|imports?)\b|写|插入|导入",
                        re.IGNORECASE),
}  # fmt: skip


def label_findings(claims: Claims) -> Iterator[Finding]:
    """Every conclusion whose results say what work they were."""
    for conclusion in claims.conclusions:
        finding = _label(conclusion, claims)
        if finding is not None:
            yield finding


def _label(conclusion: Conclusion, claims: Claims) -> Finding | None:
    works = {result.work for name in conclusion.about if (result := claims.result(name)) and result.work}
    named = {work for work, words in _WORDS.items() if words.search(conclusion.text)}
    if not works or not named:
        return None
    shown = message(
        '"{text}" names {named}, its results are {works}',
        text=conclusion.text,
        named=" and ".join(sorted(named)),
        works=" and ".join(sorted(works)),
    )
    return Finding("label", Standing.PASS if named <= works else Standing.FAIL, shown)
