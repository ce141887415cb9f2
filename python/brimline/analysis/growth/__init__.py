"""Owns what records of a growth show: figures of steps and batches, the machine's speed, breaks over the volume."""
