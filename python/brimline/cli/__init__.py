"""Owns the command line: one verb one file, each a thin shell over `brimline.api`."""

from brimline.cli.app import main

__all__ = ["main"]
