"""Comparisons as reports: runs against runs, series over time, a workload with and without another."""
