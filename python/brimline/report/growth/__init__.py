"""A growth experiment as a report."""
