"""A scan as a report."""
