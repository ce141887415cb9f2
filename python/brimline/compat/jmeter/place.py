"""Owns what is said of an element: where it stands, what it is, why it is not taken over, and what to do instead."""

from dataclasses import dataclass, field

from brimline.compat.jmeter.document import Element, shown_name
from brimline.init.left_out import LeftOut


@dataclass(frozen=True, slots=True)
class Remarks:
    """Collects what is said of the elements of one file, which is called `file`."""

    file: str
    _lost: list[tuple[int, str, str]] = field(default_factory=list)
    _changed: list[tuple[int, str, str]] = field(default_factory=list)

    def lose(self, element: Element, why: str, instead: str) -> None:
        """An element, or a part of it, is not taken over; `instead` is what to do."""
        self._lost.append((element.line, self._place(element), f"{why}; {instead}"))

    def change(self, element: Element, how: str) -> None:
        """An element is taken over in another form."""
        self._changed.append((element.line, self._place(element), how))

    def _place(self, element: Element) -> str:
        """File, line, name and class of an element."""
        return f'{self.file}:{element.line}: "{shown_name(element.name)}" ({shown_name(element.kind)})'

    def by_line(self) -> LeftOut:
        """All that is said, each once, in the order of the lines."""
        left = LeftOut()
        for _, place, why in sorted(self._lost, key=lambda each: each[0]):
            left.lose(place, why)
        for _, place, how in sorted(self._changed, key=lambda each: each[0]):
            left.change(place, how)
        return left
