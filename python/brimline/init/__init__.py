"""Owns the first workload of a person: written from a live deployment, from its slow operations, or from another tool.

What comes out is the text of a spec with comments: each guess is marked, and what could not be taken over is listed.
A value of the person's data is in it only where that was asked for.
"""
