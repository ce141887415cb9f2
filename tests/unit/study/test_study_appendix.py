"""The appendix of a document: commands that can be typed as they stand."""

import json
import re
from pathlib import Path

from brimline.report.view import Code
from brimline.study.document.appendix import appendix
from brimline.study.document.made import all_made
from brimline.study.document.results import NotShown, Prose
from brimline.study.state import StudyDirectory

STUDY = """\
name: two
title: Two
purpose: [To see.]
files:
  rows: {workload: bulk-rows, rows: 2k}
servers:
  shop: {order-service: mongodb, orders: 100}
  set: {replica-set: 3, small: true}
experiments:
  - {name: first, title: First, verb: import, workload: "{rows}"}
  - {name: beside, title: Beside, verb: interfere, workload: bulk-rows, options: {with: "import:{rows}"}}
  - {name: reads, title: Reads, verb: capacity, workload: "{shop}/read.yaml", server: shop}
  - {name: again, title: Again, verb: run, workload: "{shop}/read.yaml", server: shop}
  - {name: last, title: Last, verb: run, workload: ycsb-b, server: set}
"""
WORDS = {
    "first": ["import", "{rows}"],
    "beside": ["interfere", "bulk-rows", "--with", "import:{rows}"],
    "reads": ["capacity", "{shop}/read.yaml"],
    "again": ["run", "{shop}/read.yaml"],
    "last": ["run", "ycsb-b"],
}


def commands(directory: Path) -> list[str]:
    untold = {"lacks": None, "left_out": [], "ended": None}
    experiments = {name: {"words": words, **untold} for name, words in WORDS.items()}
    state = {"directory": str(directory), "scale": {"fraction": 1.0, "is_ci": True}, "experiments": experiments}
    (directory / "study.yaml").write_text(STUDY, encoding="utf-8")
    (directory / "study.json").write_text(json.dumps(state), encoding="utf-8")
    study = StudyDirectory.open(directory)
    made = all_made(study)
    block, *_ = appendix(study, made, Prose(made, "en", NotShown())).blocks
    assert isinstance(block, Code)
    return block.text.splitlines()


def test_commands_name_their_files_and_bring_their_servers_up(tmp_path: Path) -> None:
    said = [line.replace(str(tmp_path), "DIR") for line in commands(tmp_path)]
    assert [re.sub(r"^brimline ", "", line) for line in said] == [
        "mkdir -p DIR/files DIR/files/shop",
        "generate bulk-rows --rows 2k --format csv -o DIR/files/rows.csv -q",
        "import DIR/files/rows.csv",
        "interfere bulk-rows --with import:DIR/files/rows.csv",
        "lab up shop --order-service=mongodb",
        "cp examples/order-service/*.yaml DIR/files/shop",
        'python examples/order-service/seed.py "$(brimline lab uri shop | paste -sd,)" --orders 100 '
        "--file DIR/files/shop/ids.csv",
        'capacity DIR/files/shop/read.yaml --uri "$(brimline lab uri shop | paste -sd,)"',
        'run DIR/files/shop/read.yaml --uri "$(brimline lab uri shop | paste -sd,)"',
        "lab down shop",
        "lab up set --replica-set=3 --small",
        'run ycsb-b --uri "$(brimline lab uri set | paste -sd,)"',
        "lab down set",
    ]
