"""Owns what a run's record says: the record in, findings and a verdict out.

Pure, so that any record can be judged again.
"""
