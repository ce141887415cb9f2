"""A factor sweep as a report."""
