"""Owns what an interference experiment is asked for: how many pairs, and what goes on beside the runs of B."""

from dataclasses import dataclass

from brimline.analysis.comparison import MARGIN
from brimline.experiments.paired.order import PAIRS_AGAIN_MAX, PAIRS_DEFAULT
from brimline.experiments.settings import REPEATS_MAX

INTERFERENCE_KIND = "interfere"
"""What its record says it is."""
BACKGROUND_KINDS = ("import", "scan", "index", "backup", "workload")
BACKUPS = ("", "gzip", "mongodump", "files")
"""By a client of brimline's own, plain and compressed, by MongoDB's tool, and by copies of a locked server's files."""
AND = " + "
"""Between several backgrounds that are at work at once."""
PAIRS_MAX = REPEATS_MAX - PAIRS_AGAIN_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One background: its kind, what it is `of` (the file of an import, the name of a workload), and at which rate."""

    text: str
    kind: str
    of: str = ""
    rate: str = ""


def parse_background(text: str) -> Beside:
    """`import`, `import:rows.csv`, `scan`, `index`, `backup`, `backup:files`, `workload:ycsb-b,rate=500/s`.

    Raises ValueError with a text for users.
    """
    kind, _, of = text.strip().partition(":")
    if kind not in BACKGROUND_KINDS:
        raise ValueError(f'there is no background "{text}"; there are {", ".join(BACKGROUND_KINDS)}')
    if kind == "backup" and of not in BACKUPS:
        known = ", ".join(filter(None, (f"backup:{each}".rstrip(":") for each in BACKUPS)))
        raise ValueError(f'there is no backup "{text}"; there are {known}')
    if of and kind not in ("import", "workload", "backup"):
        raise ValueError(f"{kind} is of nothing further, but is {text}")
    if kind != "workload":
        return Beside(text=text.strip(), kind=kind, of=of)
    name, further, rate = of.partition(",rate=")
    if not name or "," in name or bool(further) != bool(rate):
        raise ValueError("a workload in the background needs its name, as in workload:ycsb-b,rate=500/s")
    return Beside(text=text.strip(), kind=kind, of=name, rate=rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterferenceSettings:
    """`pairs`: runs of each side. `rows`: documents of a background. `margin`: share that doesn't matter.

    `background`: what goes on beside the runs of B, several with `AND` between them; see `parse_background`.
    """

    background: str = "import"
    pairs: int = PAIRS_DEFAULT
    rows: int = 1_000_000
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ValueError("a comparison needs at least one pair of runs")
        if self.pairs > PAIRS_MAX:
            raise ValueError(f"a comparison has at most {PAIRS_MAX} pairs of runs")
        if self.rows < 1:
            raise ValueError("the background needs at least one document")
        if not 0 < self.margin < 1:
            raise ValueError("the margin is a share between 0 and 1")
        texts = [each.text for each in self.backgrounds]
        if twice := next((text for text in texts if texts.count(text) > 1), None):
            raise ValueError(f"{twice} is in the background twice")

    @property
    def backgrounds(self) -> tuple[Beside, ...]:
        """Each of them."""
        return tuple(parse_background(each) for each in self.background.split(AND))
