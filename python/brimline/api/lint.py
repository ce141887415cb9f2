"""Owns the verb `lint`: a file of claims in, what can't be true out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.analysis.finding import Finding
from brimline.analysis.lint import contradictions
from brimline.analysis.lint import lint as lint_claims
from brimline.analysis.lint.claims_file import read_claims
from brimline.errors import BrimlineError, GateFailed, UsageError
from brimline.report.document import FORMAT_VERSION
from brimline.report.lint_section import findings_document
from brimline.spec.document import TEXT_BYTES_MAX
from brimline.units import counted


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LintResult:
    """Every check that could be made of a file of claims, contradictions first."""

    source: str
    findings: Sequence[Finding]

    def __repr__(self) -> str:
        """Two lines: how many checks, and whether claims contradict each other."""
        said = self.error.message if self.error else "nothing contradicts"
        return f"LintResult: {self.source}, {counted(len(self.findings), 'check')}\n{said}"

    @property
    def error(self) -> BrimlineError | None:
        """Set when claims contradict each other."""
        count = len(contradictions(self.findings))
        if not count:
            return None
        what = "claim contradicts" if count == 1 else "claims contradict"
        return GateFailed(f"{count} {what} what else {self.source} says", hint="correct them, or what they follow from")

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "format_version": FORMAT_VERSION,
            "kind": "lint",
            "source": self.source,
            "contradictions": len(contradictions(self.findings)),
            "lint": findings_document(self.findings),
        }


def lint(file: str | Path) -> LintResult:
    """Checks the claims in a YAML file, see `docs/guides/lint.md`.

    Raises UsageError when the file can't be read or understood.
    """
    path = Path(file)
    try:
        with path.open("rb") as stream:
            content = stream.read(TEXT_BYTES_MAX + 1)
        text = content.decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"can't read {path}: {reason}", hint="give a YAML file of claims, as docs/guides/lint.md describes it"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"can't read {path}: it is not UTF-8 text", hint="a file of claims is YAML") from error
    if text.lstrip().startswith("<"):
        raise UsageError(
            f"{path} is a page and no file of claims",
            hint="write what it says as claims in YAML, as docs/guides/lint.md describes it; reports of brimline's own "
            "have such checks in them",
        )
    return LintResult(source=path.name, findings=lint_claims(read_claims(text, path.name)))
