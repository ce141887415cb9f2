"""Owns the translation of a SimRunner configuration into a workload.

Source: the README of github.com/schambon/SimRunner and what its expressions do, read in November 2026. What has no
counterpart is listed by its path in the configuration.
"""

from brimline.init.simrunner.translation import Translated, from_simrunner

__all__ = ["Translated", "from_simrunner"]
