"""A run that another tool made, as a report."""
