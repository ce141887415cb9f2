"""Owns labs: servers of a topology on this machine that stay when the command ends, until they are taken down.

Nothing is imported here: `servers.bundled` needs the sweep of leftovers alone, and the rest needs `servers.bundled`.
"""
