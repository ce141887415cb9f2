"""Owns the user's words: strict YAML specs, YCSB property files, the shipped workloads.

`load_spec` is the way in, and `load_ycsb` that of `brimline ycsb`; `Spec` is what every later stage reads.
"""

from brimline.spec.load import LoadedSpec, load_spec, load_ycsb
from brimline.spec.model import Spec
from brimline.spec.schema import spec_schema
from brimline.spec.shipped import shipped_workloads
from brimline.spec.ycsb_front import YcsbOutput

__all__ = ["LoadedSpec", "Spec", "YcsbOutput", "load_spec", "load_ycsb", "shipped_workloads", "spec_schema"]
