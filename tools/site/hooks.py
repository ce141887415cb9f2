"""Owns what is changed of pages that mkdocs has rendered."""

import re
from typing import Any

_ALTERNATE = re.compile(r"<link\s[^>]*\brel=\"?alternate\b[^>]*>")


_CODE = re.compile(r"<code>[^<\n]*</code>")
_OPTION = re.compile(r"(?<=[>\s])-[^\s<]+")


def on_post_page(output: str, **_: Any) -> str:
    """Without links to translations in the head: for them the theme asks for a sitemap, refused from a disk.

    An option's name is marked, so that no line ends behind its hyphens.
    """
    marked = _CODE.sub(lambda code: _OPTION.sub(r'<span class="option">\g<0></span>', code[0]), output)
    return _ALTERNATE.sub("", marked)
