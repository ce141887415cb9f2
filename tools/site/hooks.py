"""Owns what is changed of pages that mkdocs has rendered."""

import re
from typing import Any

_ALTERNATE = re.compile(r"<link\s[^>]*\brel=\"?alternate\b[^>]*>")


def on_post_page(output: str, **_: Any) -> str:
    """Without links to translations in the head: for them the theme asks for a sitemap, refused from a disk."""
    return _ALTERNATE.sub("", output)
