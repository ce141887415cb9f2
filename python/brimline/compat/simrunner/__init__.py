"""Owns the translation of a SimRunner configuration into a workload.

Source: the README of github.com/schambon/SimRunner and what its expressions do, read in November 2026. What has no
counterpart is listed by its path in the configuration.
"""

from brimline.compat.simrunner.translation import from_simrunner
from brimline.init.translated import Translated

__all__ = ["Translated", "from_simrunner"]
