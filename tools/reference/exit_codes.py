"""Owns the page of the exit codes."""

from brimline.errors import ExitCode
from brimline.spec.docstrings import docstrings_behind
from tools.reference.languages import Say
from tools.reference.markdown import page, plain, table


def exit_codes_page(say: Say, translation: str) -> str:
    """The text of the page."""
    meanings = docstrings_behind(ExitCode)
    rows = [(str(each.value), plain(say(" ".join(meanings[each.name].split())))) for each in ExitCode]
    parts = (
        "A run can pass or miss an objective only in an open loop: with `--rate`, or with a `load` that is `constant`, "
        "`poisson`, `ramp`, `steps` or `stages`. A run of a closed loop has no response time, so it never ends with 3. "
        "`capacity --on connections` and `--on threads` search closed loops, and judge their service time.",
        "With `--json` an error is `error`, `hint` and `exit_code` on standard output. `--junit FILE` writes the "
        "outcome as JUnit XML, also where there is no result: the type of an error follows the exit code (`usage` "
        "for 2, `inconclusive` for 4, `target` for 5).",
    )
    return page(
        say("Exit codes"),
        table((say("Code"), say("Meaning")), rows),
        *map(say, parts),
        source="python/brimline/errors.py",
        translation=translation,
    )
