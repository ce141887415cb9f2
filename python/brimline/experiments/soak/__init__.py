"""Owns soaks: one long run at a rate, in parts where it was interrupted, and what becomes of the server meanwhile."""
