"""Owns the second look at tests that failed: they are run once more, with nothing beside them.

Some hundred real servers on two processors now and then meet a moment that a test did not think of. One such moment in
eleven thousand tests says little about a change. So what failed is done again alone, and named in any case: a test that
is often among them has a defect of its own. What measures is alone the first time too. Where many fail the first
failures stand.

`python -m tests.support.second_look EXIT_CODE [ARGUMENTS]` ends as pytest does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

TESTS_FAILED = 1
"""The exit code of pytest where tests failed; with any other one there is nothing to look at again."""
FAILED_MAX = 10
FAILED = Path(".pytest_cache/v/cache/lastfailed")
"""pytest adds to it, also what other runs left out: it is removed before the tests are run."""
_AGAIN = ("--last-failed", "--last-failed-no-failures", "none", "--durations", "0", "-m", "not long")


def main(arguments: Sequence[str], again: Callable[[Sequence[str]], int]) -> int:
    """What the tests' exit code is after the second look. `again` runs pytest with arguments."""
    code, *rest = int(arguments[0]), *arguments[1:]
    failed = _failed()
    if code != TESTS_FAILED or not 0 < len(failed) <= FAILED_MAX:
        return code
    _say("failed, and run once more, alone:", failed)
    code = again([*_AGAIN, *rest])
    still = _failed()
    _say(
        "failed only beside others, or once of two times; look at them, a change may have done it:",
        [e for e in failed if e not in still],
    )
    return code


def _failed() -> list[str]:
    try:
        return sorted(json.loads(FAILED.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []


def _say(what: str, tests: Sequence[str]) -> None:
    if tests:
        sys.stdout.write("\n".join([what, *(f"  {each}" for each in tests), ""]))
        sys.stdout.flush()


def _pytest(arguments: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], env=os.environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], _pytest))
