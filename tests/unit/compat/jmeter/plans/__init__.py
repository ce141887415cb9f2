"""Owns whole test plans, each in the words of one release of JMeter; `recorded` as its recorder writes one."""

from pathlib import Path
from typing import Final

PLANS: Final = {path.stem: path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.jmx"))}
"""The text of each by its name."""
WORKLOADS: Final = {path.stem: path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.yaml"))}
"""What each becomes."""
