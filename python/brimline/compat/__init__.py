"""Owns the files of other load generators that become workloads; one package for each."""
