"""Files of other load generators that become workloads."""
