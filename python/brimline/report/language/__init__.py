"""Owns reports in other languages than English: a report put into the one that is wanted.

A report is made in English. Its sentences still know their templates and values (`brimline.wording`) and its
quantities their values (`brimline.units.Quantity`), so that a finished report can be said in another language. What has
no translation stays English. JSON, names, specs, commands and what servers answered are never translated.
"""

from collections.abc import Callable

from brimline.errors import on_one_line
from brimline.report.language.report_words import translated
from brimline.report.language.translator import translator_for
from brimline.report.view import Report

__all__ = ["in_language", "said_in", "said_in_digits"]


def in_language(report: Report, language: str) -> Report:
    """`report` with all its words in `language`, and those of its target; its JSON stays as it is."""
    if language == report.language and not report.words:
        return report
    return translated(report, translator_for(language, report.words), language)


def said_in(language: str, text: str) -> str:
    """One text in `language`: a literal, a message or a quantity."""
    return text if language == "en" else translator_for(language).say(text)


def said_in_digits(language: str) -> Callable[[str], str]:
    """Says texts in `language` whose figures stand beside each other, so that all are in digits; on one line each."""
    if language == "en":
        return on_one_line
    say = translator_for(language).digits().say
    return lambda text: on_one_line(say(text))
