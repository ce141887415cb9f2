"""Owns how steps are read that are requests of HTTP or SQL statements."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from brimline.spec.document import Path
from brimline.spec.own.keys import check_keys
from brimline.spec.own.sql_steps import BEGIN, COMMIT, control
from brimline.spec.own.step_kind import Requested, StepKind, Surroundings
from brimline.spec.own.steps import StepReader


@dataclass
class RequestSteps(StepReader):
    """Reads steps that are requests: what of a step follows from the kind of target is under `of`, by that kind."""

    headers: dict[str, Any] = field(default_factory=dict)
    secret_headers: frozenset[str] = frozenset()

    def _commands(self, kind: str, step: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
        found = self._steps.kinds[kind]
        assert found.request is not None  # noqa: S101 - of every kind of another protocol than MongoDB's
        around = Surroundings(self.scope, self.headers, self.secret_headers)
        yield self._requested(found.request(found, step, path, around), step, path, found)

    def _transaction(self, step: dict[str, Any], path: Path) -> list[dict[str, Any]]:
        """BEGIN, its steps and COMMIT, which are statements of their own."""
        path_in, given = (*path, "transaction"), step["transaction"]
        if isinstance(given, dict):
            check_keys(given, path_in, ("steps",), required=("steps",))
            path_in, given = (*path_in, "steps"), given["steps"]
        before, self._think_time = self._think_time, None
        made, pause = self._inside(given, path_in)
        named = f"{step['name']} " if "name" in step else ""
        begin = self._requested(control(f"{named}begin", "begin", BEGIN), {}, path, None)
        commit = self._requested(control(f"{named}commit", "commit", COMMIT), {}, path, None)
        return [
            {**begin, "transaction": "begin", "think_time": before},
            *made,
            {**commit, "transaction": "commit", "think_time": pause},
        ]

    def _requested(
        self, made: dict[str, Requested], step: dict[str, Any], path: Path, kind: StepKind | None
    ) -> dict[str, Any]:
        return {
            **self._made(next(iter(made.values())).name, step, path, kind=kind),
            "database": "",
            "collection": None,
            "counter": "command",
            "batch_size": None,
            "cursor": False,
            "think_time": None,
            "of": {
                target: {
                    "command": each.command,
                    "access": each.access,
                    "body": {"kind": "list", "items": each.slots},
                    "statements": each.statements,
                    "request": each.request,
                }
                for target, each in made.items()
            },
        }
