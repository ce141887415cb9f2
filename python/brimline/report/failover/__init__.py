"""A failover as a report."""
