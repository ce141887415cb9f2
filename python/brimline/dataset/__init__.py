"""Owns what surrounds loading: an empty collection before it, proof of count and a manifest after it, gaps in between.

The documents themselves are inserted by the engine. The manifest lies beside the data, so that a later run
can tell whether the collection holds what its plan expects.
"""

from brimline.dataset.collection import (
    CountProof,
    Replacement,
    complete,
    prepare,
    prepare_addition,
    prove_count,
    replacement,
)
from brimline.dataset.definition import Definition, Misfit, find_misfit, fit_indexes, own_names
from brimline.dataset.gaps import Gaps, find_gaps
from brimline.dataset.inspection import Inspection, State, inspect
from brimline.dataset.manifest import (
    MANIFEST_COLLECTION,
    Manifest,
    differences,
    manifest_for,
    read_manifest,
    require_nobody_at_work,
    write_manifest,
)
from brimline.dataset.pristine import (
    has_copy,
    make_copy,
    put_copy_back,
    reason_against_copy,
    require_only_ours,
    require_same_collection,
)
from brimline.dataset.routed import routed
from brimline.dataset.shape import Shape
from brimline.dataset.trial import TRIAL_DOCUMENTS, require_taken

__all__ = [
    "MANIFEST_COLLECTION",
    "TRIAL_DOCUMENTS",
    "CountProof",
    "Definition",
    "Gaps",
    "Inspection",
    "Manifest",
    "Misfit",
    "Replacement",
    "Shape",
    "State",
    "complete",
    "differences",
    "find_gaps",
    "find_misfit",
    "fit_indexes",
    "has_copy",
    "inspect",
    "make_copy",
    "manifest_for",
    "own_names",
    "prepare",
    "prepare_addition",
    "prove_count",
    "put_copy_back",
    "read_manifest",
    "reason_against_copy",
    "replacement",
    "require_nobody_at_work",
    "require_only_ours",
    "require_same_collection",
    "require_taken",
    "routed",
    "write_manifest",
]
