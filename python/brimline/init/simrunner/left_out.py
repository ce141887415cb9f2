"""Owns what could not be taken over from a configuration, each with its path in the JSON."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class LeftOut:
    """What is said of a translation: `lost` is not in the workload, `changed` is there in another form."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def lose(self, path: str, why: str) -> None:
        """What stands at `path` is not taken over."""
        self._add(self.lost, f"{path}: {why}")

    def change(self, path: str, how: str) -> None:
        """What stands at `path` is taken over in another form."""
        self._add(self.changed, f"{path}: {how}")

    @staticmethod
    def _add(lines: list[str], line: str) -> None:
        if line not in lines:
            lines.append(line)
