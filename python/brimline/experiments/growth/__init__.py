"""Owns growth: a collection loaded step by step, and what its queries take at each volume."""
