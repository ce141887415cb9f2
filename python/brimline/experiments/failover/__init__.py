"""A fault during a run, again and again: what it costs, and what becomes of acknowledged writes."""
