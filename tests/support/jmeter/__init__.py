"""Owns Apache JMeter itself: fetched by Maven, laid out below target/, and run as its command line runs it."""

import csv
import functools
import os
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.peers.builds import LOGS, ROOT, build_with_maven
from tests.support.java_histograms import JAVA_ONCE

_HOME = ROOT / "target" / "jmeter"
_MAIN_CLASS = "org.apache.jmeter.NewDriver"
_DEADLINE_S = 60


@functools.cache
def jmeter_home() -> Path:
    """Where JMeter is. Raises benchmarks.peers.builds.Missing."""
    build_with_maven("JMeter", Path(__file__).parent / "pom.xml", makes=_HOME, log=LOGS / "jmeter.log")
    return _HOME


def samples_by_label(plan: Path, *, properties: Mapping[str, str], directory: Path) -> Counter[str]:
    """How many samples of each label JMeter's run of a plan has, in a process of its own."""
    home, results = jmeter_home(), directory / "results.jtl"
    class_path = os.pathsep.join((str(home / "lib" / "ext" / "*"), str(home / "lib" / "*")))
    own = [f"-Djmeter.home={home}", f"-Djava.util.prefs.userRoot={directory}", "-Djava.awt.headless=true"]
    words = ["-n", "-t", str(plan), "-l", str(results), "-j", str(directory / "jmeter.log")]
    done = subprocess.run(
        [
            *JAVA_ONCE,
            *own,
            "-cp",
            class_path,
            _MAIN_CLASS,
            *words,
            *(f"-J{name}={value}" for name, value in properties.items()),
        ],
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with results.open(newline="") as opened:
        return Counter(row["label"] for row in csv.DictReader(opened))
