"""What a factor sweep over clients says of each by itself: versions, what it takes, and by how much it differs."""

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from brimline.experiments.vary.conclusion import conclude_vary
from brimline.experiments.vary.order import VarySettings, VaryTrial
from brimline.report import Report, in_language, render_html
from brimline.report.csv_export import COST_COLUMNS, PROBE_COLUMNS, probes_csv
from brimline.report.markdown import render_markdown
from brimline.report.vary.view import vary_report
from brimline.report.view import Chart, Table
from tests.unit.experiments.vary_simulator import settings_of
from tests.unit.report.report_samples import ENVIRONMENT, ended_experiment
from tests.unit.report.vary_samples import DIRECTORY, trials_of, varied

CLIENTS = {"4.4": "wire", "6.0": "java-sync"}
DRIVER = {
    "client": "java-sync", "driver": "mongodb-driver-sync", "driver_version": "5.8.0", "runtime": "OpenJDK",
    "runtime_version": "17.0.15", "memory_peak_bytes": 300_000_000,
}  # fmt: skip
FIXED = {"blocks": 3, "blocks_max": 4, "duration_s": 12.0, "warmup_s": 0.2}


def of_clients() -> tuple[VarySettings, list[VaryTrial]]:
    """The driver takes a fifth more of the time of a read, three times the processor, and five connections more."""
    made = []
    for number, trial in enumerate(trials_of(spoilt=False)):
        client, connections = CLIENTS[trial.probe.levels[0]], int(trial.probe.levels[1])
        is_driver, noise = client != "wire", 1 + 0.001 * (number % 5)
        costs = {
            "read.mean": 1e6 * noise * (1.2 if is_driver else 1.0),
            "client_cpu": 20e3 * noise * (3.0 if is_driver else 1.0),
            "server_cpu": 30e3 * noise,
            "connections": float(connections),
            "server_connections": connections + (8.0 if is_driver else 3.0),
            **({"driver_memory": 300e6} if is_driver else {}),
        }
        made.append(
            replace(
                trial,
                probe=replace(trial.probe, levels=(client, str(connections))),
                figures={**trial.figures, **costs},
                drivers=[DRIVER] if is_driver else [],
            )
        )
    return settings_of("client=wire,java-sync", "connections=1,4,16,32", **FIXED), made


def reported(settings: VarySettings, trials: list[VaryTrial]) -> Report:
    conclusion = conclude_vary(settings, trials, [], seed=1)
    return vary_report(ended_experiment("vary", DIRECTORY), trials, [], conclusion, settings, environment=ENVIRONMENT)


@pytest.fixture(scope="module")
def report() -> Report:
    return reported(*of_clients())


def section_of(report: Report) -> list[Any]:
    return next(each.blocks for each in report.sections if each.id == "clients")


def test_each_client_has_its_driver_and_runtime_with_their_versions(report: Report) -> None:
    versions = next(block for block in section_of(report) if isinstance(block, Table))
    assert [[cell.text for cell in row] for row in versions.rows] == [
        ["wire", "brimline's own client", "—"],
        ["java-sync", "mongodb-driver-sync 5.8.0", "OpenJDK 17.0.15"],
    ]
    for language, own in (("en", "brimline's own client"), ("zh", "brimline 自己的客户端")):
        for text in (render_markdown(in_language(report, language)), render_html(in_language(report, language))):
            assert "mongodb-driver-sync 5.8.0" in text and "OpenJDK 17.0.15" in text
            assert own in text.replace("&#39;", "'")


def test_a_driver_that_was_updated_in_between_is_told_twice() -> None:
    settings, trials = of_clients()
    trials = [
        replace(each, drivers=[{**DRIVER, "driver_version": "5.9.0"}])
        if each.drivers and each.probe.block > 1
        else each
        for each in trials
    ]
    versions = next(block for block in section_of(reported(settings, trials)) if isinstance(block, Table))
    assert [row[1].text for row in versions.rows][1:] == ["mongodb-driver-sync 5.8.0", "mongodb-driver-sync 5.9.0"]


def test_what_a_driver_adds_is_told_with_interval(report: Report) -> None:
    table = [block for block in section_of(report) if isinstance(block, Table)][-1]
    found = {str(row[4].text): [str(cell.text) for cell in row] for row in table.rows}
    assert {row[0] for row in found.values()} == {"client"} and {row[2] for row in found.values()} == {"wire"}
    assert found["read service mean"][5].startswith("+20") and found["read service mean"][-1] == "regressed"
    assert found["Client CPU per operation"][5].startswith("+200") and found["Client CPU per operation"][6]
    assert found["Connections at the server"][-1] == "not judged", "how many are good nobody says"
    assert "Memory of the driver" not in found, "brimline's own client has none to compare with"
    of_json = {each["metric"]: each for each in report.data["differences_of_costs"]}
    assert of_json["read.mean"]["change_share"] == pytest.approx(0.2, abs=0.01)
    assert {each["metric"] for each in report.data["differences"]}.isdisjoint(of_json), "one p for one difference"


def test_charts_are_those_over_the_connections(report: Report) -> None:
    charts = [block for block in section_of(report) if isinstance(block, Chart)]
    assert [each.id for each in charts] == [
        "client-connections-read-mean",
        "client-connections-server-connections",
        "client-connections-client-cpu",
        "client-connections-driver-memory",
    ]
    assert [trace["name"] for trace in charts[0].figure["data"]] == [
        "client wire, read service mean", "client java-sync, read service mean",
    ]  # fmt: skip


def test_a_row_of_csv_for_each_run_has_what_it_took(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(probes_csv(report.data))))
    assert list(rows[0])[: len(PROBE_COLUMNS)] == list(PROBE_COLUMNS), "columns are added at the end"
    assert {"client", "read.service_mean_ms", *COST_COLUMNS, "driver", "runtime"} <= set(rows[0])
    by_client = {row["client"]: row for row in rows if row["connections"] == "4"}
    wire, driver = by_client["wire"], by_client["java-sync"]
    assert float(driver["read.service_mean_ms"]) == pytest.approx(1.2, abs=0.01)
    assert (driver["client_connections"], driver["server_connections"]) == ("4.0", "12.0")
    assert float(driver["client_cpu_ns_per_operation"]) == pytest.approx(60e3, rel=0.01)
    assert (driver["driver"], driver["runtime"]) == ("mongodb-driver-sync 5.8.0", "OpenJDK 17.0.15")
    assert float(driver["driver_memory_peak_bytes"]) == 300e6
    assert (wire["driver"], wire["runtime"], wire["driver_memory_peak_bytes"]) == ("", "", "")


def test_a_sweep_over_other_factors_has_no_such_section() -> None:
    report = varied()
    assert all(each.id != "clients" for each in report.sections) and not report.data["differences_of_costs"]
    rows = list(csv.DictReader(io.StringIO(probes_csv(report.data))))
    assert set(COST_COLUMNS) <= set(rows[0]), "but the columns, which every factor sweep has"
