"""Owns the functions behind every verb: spec in, result out. The command line is a thin shell over them.

`brimline` names those that notebooks want. Each is imported from its own module, so that a load neither waits nor takes
memory for what other verbs need.
"""
