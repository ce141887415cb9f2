"""Owns what a study needs of an order service: its workloads, and orders whose ids reads ask for.

A server of a study with `order-service` says by `orders` how many there are. Where it is called `shop`,
`{shop}/read.yaml` is the workload of reads and `{shop}/write.yaml` that of writes.
"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from brimline.errors import TargetError
from brimline.servers.lab.order_service import find_order_service
from brimline.study.scale import Scale, Scaled, valued
from brimline.units import parse_count

ORDERS = "orders"
IDS, SEED = "ids.csv", "seed.py"
_DEADLINE_S = 1800.0


def at_scale(orders: Any, scale: Scale) -> int:
    """How many orders there are at a scale."""
    return parse_count(str(valued(Scaled(**orders) if isinstance(orders, dict) else orders, scale)))


def place_workloads(folder: Path) -> None:
    """Puts the workloads into `folder`, with ids that no order has: enough to read them. Raises UsageError."""
    for path in find_order_service().glob("*.yaml"):
        shutil.copyfile(path, folder / path.name)
    with (folder / IDS).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["id"], ["1"], ["2"]])


def fill_order_service(uri: str, folder: Path, *, orders: int) -> None:
    """Makes orders at `uri`; workloads and ids are in `folder` then. Raises UsageError and TargetError."""
    place_workloads(folder)
    program = find_order_service() / SEED
    words = [sys.executable, str(program), uri, "--orders", str(orders), "--file", str(folder / IDS)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_DEADLINE_S)  # noqa: S603 (this Python)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise TargetError(f"orders can't be made: {last}", hint="look at the order service: brimline lab up")
