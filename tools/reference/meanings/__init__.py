"""Owns what each key of brimline's JSON means, for the reference.

A key means the same wherever it stands. Where it doesn't, `FUNCTION.key` says what it means in the document of that
function. A test fails where a key of a document has no meaning here.
"""

from collections.abc import Mapping

from tools.reference.meanings.experiments import EXPERIMENTS
from tools.reference.meanings.runs import RUNS

MEANINGS: Mapping[str, str] = {**RUNS, **EXPERIMENTS}
