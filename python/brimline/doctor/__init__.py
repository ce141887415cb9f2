"""Owns the checks of the machine: whether it can generate load, run a server, and give figures to trust."""

from brimline.doctor.check import Check, Status, worst
from brimline.doctor.checkup import examine

__all__ = ["Check", "Status", "examine", "worst"]
