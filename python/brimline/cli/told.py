"""Owns what a command has told programs already: a document on standard output, a JUnit file.

An error that ends a command is told there too, but not a second time.
"""

_told: set[str] = set()
DOCUMENT, JUNIT = "document", "junit"


def forget() -> None:
    """At the start of a command."""
    _told.clear()


def note(what: str) -> None:
    """That it is written."""
    _told.add(what)


def is_told(what: str) -> bool:
    """Whether this command has written it."""
    return what in _told
