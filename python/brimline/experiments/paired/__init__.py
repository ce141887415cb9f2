"""Owns comparisons in pairs: two arms, or a workload alone and beside another, in mirrored turns."""
