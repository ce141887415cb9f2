"""Owns the user's words: strict YAML specs, YCSB property files, the shipped workloads.

`load_spec` is the one way in; `Spec` is what every later stage reads.
"""

from brimline.spec.load import LoadedSpec, load_spec
from brimline.spec.model import Spec
from brimline.spec.schema import spec_schema
from brimline.spec.shipped import shipped_workloads

__all__ = ["LoadedSpec", "Spec", "load_spec", "shipped_workloads", "spec_schema"]
