"""Owns what operations are called where people read: kinds have words, the author's own names stay as they are."""

from brimline.operations import KINDS
from brimline.plan import Plan
from brimline.plan.model import OperationsWork
from brimline.wording import Verbatim


def shown(operation: str, plan: Plan | None = None) -> str:
    """An operation as reports name it. Without the plan a name that a kind has as well is taken for the kind's."""
    is_own = operation not in KINDS if plan is None else isinstance(plan.work, OperationsWork)
    return Verbatim(operation) if is_own else operation.replace("_", " ")
