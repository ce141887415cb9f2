"""Owns the command line: one verb one file, each a thin shell over `brimline.api`."""

from brimline.cli.app import import_verb, main

__all__ = ["import_verb", "main"]
