"""Owns reports in other languages than English: which there are, which one is wanted, and a report put into it.

A report is made in English. Its sentences still know their templates and values (`brimline.wording`) and its
quantities their values (`brimline.units.Quantity`), so that a finished report can be said in another language. What has
no translation stays English. JSON, names, specs, commands and what servers answered are never translated.
"""

import os
from collections.abc import Mapping
from typing import Literal, TypeAlias, cast, get_args

from brimline.errors import UsageError
from brimline.report.language.report_words import translated
from brimline.report.language.translator import translator_for
from brimline.report.view import Report

Language: TypeAlias = Literal["en", "zh"]
LANGUAGES: tuple[str, ...] = get_args(Language)
LANGUAGE_VARIABLE = "BRIMLINE_LANG"

__all__ = ["LANGUAGES", "LANGUAGE_VARIABLE", "Language", "in_language", "said_in", "wanted_language"]


def wanted_language(given: str | None = None, *, environment: Mapping[str, str] | None = None) -> Language:
    """The language that was asked for: `given`, else BRIMLINE_LANG, else English.

    "zh", "zh-CN" and "zh_CN.UTF-8" are the same. Raises UsageError for a language that brimline doesn't speak.
    """
    asked = given or (os.environ if environment is None else environment).get(LANGUAGE_VARIABLE) or "en"
    language = asked.replace("_", "-").partition("-")[0].lower()
    if language not in LANGUAGES:
        source = "--lang" if given else LANGUAGE_VARIABLE
        raise UsageError(f'{source} is "{asked}"', hint=f"languages are {' and '.join(LANGUAGES)}")
    return cast("Language", language)


def in_language(report: Report, language: str) -> Report:
    """`report` with all its words in `language`; its JSON stays as it is."""
    return report if language == report.language else translated(report, translator_for(language), language)


def said_in(language: str, text: str) -> str:
    """One text in `language`: a literal, a message or a quantity."""
    return text if language == "en" else translator_for(language).say(text)
