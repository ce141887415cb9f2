"""A sweep, a capacity search or an SLO frontier as a report."""
