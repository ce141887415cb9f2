"""Owns the part of a spec that says what a transaction does."""

from typing import Self

from pydantic import model_validator

from brimline.spec import fields
from brimline.spec.base import Part


class TransactionSpec(Part):
    """What an operation `transaction` does before its commit: `reads` documents, then `updates`, one command each.

    Read i and update i are of the same document; each is drawn as for any operation.
    """

    reads: fields.StatementCount = 1
    """Documents that a transaction reads."""
    updates: fields.StatementCount = 1
    """Documents that a transaction updates."""

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.reads and not self.updates:
            raise ValueError("neither reads nor updates; give one of them a number")
        return self
