"""Builds the site into target/site; `make docs` calls it with the packages of requirements.txt."""

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config

from tools.site.navigation import navigation, translated_titles
from tools.site.staging import stage

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def main() -> None:
    """Builds the site anew, and says where it is. Anything that mkdocs warns of ends it with an error."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "site").resolve()
    staged = target.with_name(f"{target.name}-source")
    for directory in (staged, target):
        shutil.rmtree(directory, ignore_errors=True)
    stage(ROOT, staged)
    for name in ("iframe-worker.js", "iframe-worker.LICENSE", "site.css"):
        shutil.copyfile(HERE / name, staged / name)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    config = load_config(**_settings(staged, target))
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    print(f"site: {target / 'index.html'}")


def _settings(staged: Path, target: Path) -> dict[str, Any]:
    languages = [
        {"locale": "en", "name": "English", "default": True, "build": True},
        {"locale": "zh", "name": "中文", "build": True, "nav_translations": translated_titles(staged)},
    ]
    return {
        "config_file": str(HERE / "mkdocs.yml"),
        "docs_dir": str(staged),
        "site_dir": str(target),
        "nav": navigation(staged),
        "plugins": [
            {"search": {"lang": ["en"], "separator": r"[\s\-,:!=\[\]()\"/.]+|(?<=[一-鿿])|(?=[一-鿿])"}},
            {"i18n": {"docs_structure": "suffix", "fallback_to_default": True, "languages": languages}},
            "offline",
        ],
    }


main()
