"""One run as a report."""
