"""Owns directories for what is written beside a run and not kept, and removing those that a killed process left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from brimline.servers.state import claim, sweep

_PREFIX = ".brimline-backup-"


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A private directory below `parent` for the length of the `with` block, marked as this process's. Raises OSError.

    Its mark lies in it: what is written goes into directories below.
    """
    with TemporaryDirectory(prefix=_PREFIX, dir=parent) as name:
        claim(Path(name))
        yield Path(name)


def sweep_scratch(parent: Path, *, say: Callable[[str], None]) -> None:
    """Removes those below `parent` whose process is gone, and says which. Never raises."""
    for left in sweep(parent, prefix=_PREFIX).directories:
        say(f"removed {left}, which a backup beside a run left when it was killed")
