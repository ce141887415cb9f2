"""The bare loop rests as brimline may at most: the comparison's page says so."""

import re

from benchmarks.peers.builds import ROOT, RUST


def constant(source: str, name: str) -> float:
    (value,) = re.findall(rf"const {name}: \w+ = (?:Duration::from_micros\()?([\d_.]+)\)?;", source)
    return float(value)


def test_the_bare_loop_rests_as_the_engine_does() -> None:
    engine = (ROOT / "crates" / "engine" / "src" / "rhythm.rs").read_text(encoding="utf-8")
    bare = (RUST / "src" / "bin" / "bare-loop.rs").read_text(encoding="utf-8")
    assert constant(bare, "PART_OF_CYCLE") == constant(engine, "PART_OF_CYCLE")
    assert constant(bare, "REST_MAX") * 1e3 == constant(engine, "REST_NS_MAX")
