"""Owns the search for the sustained load: which probe comes next, and what the probes show."""
