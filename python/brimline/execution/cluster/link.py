"""Owns the way to a node's engine: whatever carries calls there and answers back."""

from typing import Any, Protocol

ANSWER_WITHIN_S = 8.0
"""How long a node may leave a question open before it counts as lost."""
_ROWS_PER_S_MIN_BYTES = 10_000_000
"""A way that takes less is none for a load test either."""


def taking_s(size_bytes: int) -> float:
    """How long a node may leave a question open that brings it so much."""
    return ANSWER_WITHIN_S + size_bytes / _ROWS_PER_S_MIN_BYTES


class NodeLost(Exception):
    """A node that doesn't answer any more; the message says what is known of it."""


class Link(Protocol):
    """One node's `NodeEngine`, from afar. Calls come one after the other, from one thread at a time."""

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        """What the method of this name answers. Raises NodeLost."""
        ...

    def close(self) -> None:
        """Ends the node's engine, and what it runs. Idempotent."""
        ...
