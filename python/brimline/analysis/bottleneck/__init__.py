"""Owns the bottleneck: what was full when load could not grow any more, with the figures that show it.

One file for each candidate: what was observed in, its evidence out. `judgement` picks the one that is the limit.
"""

from brimline.analysis.bottleneck.evidence import NAMES, BottleneckKind, Evidence, Fullness
from brimline.analysis.bottleneck.generator import generator_limits
from brimline.analysis.bottleneck.judgement import Bottleneck, at_its_limit, bottleneck

__all__ = [
    "NAMES",
    "Bottleneck",
    "BottleneckKind",
    "Evidence",
    "Fullness",
    "at_its_limit",
    "bottleneck",
    "generator_limits",
]
