"""Owns the runners, programs that perform operations by the drivers of databases.

Which there are, how each is started, whether it can be here, and what it said of itself.
"""

from brimline.runners.catalogue import CATALOGUE, Runner, clients_for, command_of, require_ready, servers_of
from brimline.runners.facts import runner_facts

__all__ = ["CATALOGUE", "Runner", "clients_for", "command_of", "require_ready", "runner_facts", "servers_of"]
