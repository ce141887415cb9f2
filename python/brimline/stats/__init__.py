"""Owns pure mathematics on numbers that were measured: no files, no clock, random draws from a seed."""
