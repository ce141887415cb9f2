"""Owns the runners, programs that perform operations by a driver of MongoDB's.

Which there are, how each is started, whether it can be here, and what it said of itself.
"""

from brimline.runners.catalogue import CATALOGUE, Runner, command_of, require_ready
from brimline.runners.facts import runner_facts

__all__ = ["CATALOGUE", "Runner", "command_of", "require_ready", "runner_facts"]
