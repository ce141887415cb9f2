"""Owns which pages follow from the code."""

from collections.abc import Mapping

from tools.reference.exit_codes import exit_codes_page
from tools.reference.json_keys import files_page, json_page
from tools.reference.languages import chinese, english
from tools.reference.options import options_page
from tools.reference.spec_keys import spec_page
from tools.reference.steps import steps_page
from tools.reference.verbs import verb_pages, verbs_page

PAGES_DIRECTORY = "docs/reference"
IN_BOTH_LANGUAGES = {"verbs": verbs_page, "options": options_page, "exit-codes": exit_codes_page}
"""By their names. The other pages are in English only."""


def generated_pages() -> Mapping[str, str]:
    """The text of every generated page, by its name below `PAGES_DIRECTORY`."""
    return {
        **{f"{name}.md": write(english, f"[中文]({name}.zh.md)") for name, write in IN_BOTH_LANGUAGES.items()},
        **{f"{name}.zh.md": write(chinese, f"[English]({name}.md)") for name, write in IN_BOTH_LANGUAGES.items()},
        **verb_pages(),
        "spec.md": spec_page(),
        "steps.md": steps_page(),
        "json.md": json_page(),
        "files.md": files_page(),
    }
