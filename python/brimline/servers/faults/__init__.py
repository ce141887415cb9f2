"""Owns what befalls servers on the bad day: one table of faults, each with how it is done, undone and seen to be over.

Nothing is imported here: `kinds` is the table, `fault` what a person asked for, `site` the servers that it befalls.
"""
