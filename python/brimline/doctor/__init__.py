"""Owns the checks of the machine: whether it can generate load, run a server, and give figures to trust."""

from brimline.doctor.check import Check, Status, graded, worst
from brimline.doctor.checkup import Planned, ServerInUse, examine

__all__ = ["Check", "Planned", "ServerInUse", "Status", "examine", "graded", "worst"]
