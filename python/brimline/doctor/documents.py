"""Owns the check of what studies are written with: python-docx for DOCX, Chromium for PDF and pictures of charts."""

import shutil
from importlib import metadata

from brimline.doctor.check import Check, Status

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""What Chromium and Chrome are called on PATH."""
_DOCX_HOW = "pip install 'brimline[documents]', or in a source tree: make documents"
_CHROMIUM_HOW = "install Chromium or Chrome, or in a source tree: make browser"


def documents_ready() -> Check:
    """What is here. Without it nothing is wrong with the machine: only the formats of a study's document ask for it."""
    try:
        version: str | None = metadata.version("python-docx")
    except metadata.PackageNotFoundError:
        version = None
    chromium = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    docx = "no python-docx, for DOCX" if version is None else f"python-docx {version}, for DOCX"
    pdf = "no Chromium, for PDF and pictures" if chromium is None else "Chromium, for PDF and pictures"
    lacks = [*([_DOCX_HOW] if version is None else []), *([_CHROMIUM_HOW] if chromium is None else [])]
    return Check(
        name="documents",
        status=Status.PASS,
        evidence=f"{docx}; {pdf}",
        hint="; ".join(lacks) or None,
        figures={"python_docx": version, "chromium": chromium},
    )
