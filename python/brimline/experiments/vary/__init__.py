"""Owns factor sweeps: runs with every combination of levels, in mirrored blocks, and what each factor changes."""
