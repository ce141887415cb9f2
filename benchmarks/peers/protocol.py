"""Owns what a client in Python is told on its command line, and how it speaks with the runner.

Each client is a program of its own, started with `python -m` so that it finds this module.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

_OPTIONS: tuple[tuple[str, type], ...] = (
    ("uri", str),
    ("database", str),
    ("collection", str),
    ("workload", str),
    ("records", int),
    ("threads", int),
    ("batch", int),
    ("warmup-s", float),
    ("measured-s", float),
    ("seed", int),
)


def options() -> argparse.ArgumentParser:
    """Reads what every client is told; all of it is always there."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name, kind in _OPTIONS:
        parser.add_argument(f"--{name}", type=kind, required=True)
    return parser


def say(text: str) -> None:
    """One line to the runner."""
    print(text, flush=True)


def answer(result: Mapping[str, Any]) -> None:
    """Says the result, and waits until the runner has read what it wants of this process."""
    say(json.dumps(result))
    sys.stdin.read()
