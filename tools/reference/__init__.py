"""Writes docs/reference from the code: verbs and their options, keys of a spec, keys of JSON, exit codes.

`make docs-reference` writes the pages; a test fails when one of them is not what the code says.
"""
