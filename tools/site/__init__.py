"""Builds the documentation as a site that opens from the disk, without a network: `make docs`."""
