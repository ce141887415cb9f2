"""Owns what could not be taken over by a translation, each with its place: a path, or file, line and name."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class LeftOut:
    """What is said of a translation, each once: `lost` is not in the workload, `changed` is there in another form."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    _told: set[tuple[int, str]] = field(default_factory=set)

    def lose(self, place: str, why: str) -> None:
        """What stands at `place` is not taken over."""
        self._add(self.lost, f"{place}: {why}")

    def change(self, place: str, how: str) -> None:
        """What stands at `place` is taken over in another form."""
        self._add(self.changed, f"{place}: {how}")

    def _add(self, lines: list[str], line: str) -> None:
        if (id(lines), line) not in self._told:
            self._told.add((id(lines), line))
            lines.append(line)
