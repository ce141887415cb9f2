"""Owns the way to a node's engine: whatever carries calls there and answers back."""

from typing import Any, Protocol

ANSWER_WITHIN_S = 8.0
"""How long a node may leave a question open before it counts as lost."""


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
