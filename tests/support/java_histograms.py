"""Owns HdrHistogram's own reader of logs, in Java: `HistogramLogProcessor`, among the libraries of the Java peers."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_MAIN_CLASS = "org.HdrHistogram.HistogramLogProcessor"
_DEADLINE_S = 60
JAVA_FOR_SECONDS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a program that is over in seconds: to compile it well would take longer than to run it."""
JAVA_ONCE = ("java", *JAVA_FOR_SECONDS)
_ROW = re.compile(r" *(?P<value>[\d.]+) +(?P<share>[\d.]+) +(?P<count>\d+)(?: +(?:[\d.]+|Infinity))?")
_TOTALS = re.compile(r"#\[Max += +(?P<max>[\d.]+), Total count += +(?P<count>\d+)\]")


@dataclass(frozen=True, slots=True)
class Distribution:
    """What the processor says of a log: values by the share of all that are no higher, the highest, and how many."""

    values: dict[float, float]
    highest: float
    count: int


@dataclass(frozen=True, slots=True)
class JavaProcessor:
    """The processor on this machine."""

    class_path: str

    def run(self, log: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Its output and exit code for a log."""
        command = [*JAVA_ONCE, "-cp", self.class_path, _MAIN_CLASS, "-i", str(log), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)

    def tags(self, log: Path) -> list[str]:
        """The tags that it lists."""
        title, *tags = self._output(log, "-listtags").splitlines()
        assert title == "Tags found in input file:"
        return tags

    def distribution(self, log: Path, *words: str) -> Distribution:
        """What it prints without any other output being asked for."""
        text = self._output(log, *words)
        values = {float(row["share"]): float(row["value"]) for row in map(_ROW.fullmatch, text.splitlines()) if row}
        totals = _TOTALS.search(text)
        assert totals is not None, text
        return Distribution(values, float(totals["max"]), int(totals["count"]))

    def _output(self, log: Path, *words: str) -> str:
        done = self.run(log, *words)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout
