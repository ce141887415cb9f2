"""Owns which pages follow from the code."""

from collections.abc import Mapping

from tools.reference.exit_codes import exit_codes_page
from tools.reference.json_keys import files_page, json_page
from tools.reference.options import options_page
from tools.reference.spec_keys import spec_page
from tools.reference.steps import steps_page
from tools.reference.verbs import verb_pages

PAGES_DIRECTORY = "docs/reference"


def generated_pages() -> Mapping[str, str]:
    """The text of every generated page, by its name below `PAGES_DIRECTORY`."""
    return {
        **verb_pages(),
        "options.md": options_page(),
        "spec.md": spec_page(),
        "steps.md": steps_page(),
        "json.md": json_page(),
        "files.md": files_page(),
        "exit-codes.md": exit_codes_page(),
    }
