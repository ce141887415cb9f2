"""An import of data as a report."""
