"""Random specs, as the plain values that YAML gives."""

from typing import Any

from hypothesis import strategies as st

from brimline.spec import Spec


def _decimals(minimum: float, maximum: float) -> st.SearchStrategy[float]:
    """Numbers as people type them, with few digits."""
    return st.integers(round(minimum * 1000), round(maximum * 1000)).map(lambda thousandths: thousandths / 1000)


_share = st.integers(0, 20)
_theta = _decimals(0, 10)
_fraction = _decimals(0.01, 1)
_name = st.text("abcXYZ019", min_size=1, max_size=10)


def _length(minimum: int) -> st.SearchStrategy[Any]:
    bounds = st.tuples(st.integers(minimum, 500), st.integers(0, 500))
    ranges = st.builds(
        lambda kind, low_span: {"kind": kind, "min": low_span[0], "max": sum(low_span)},
        st.sampled_from(["uniform", "zipfian"]),
        bounds,
    )
    return st.one_of(st.integers(minimum, 500), ranges)


_histogram = st.builds(
    lambda weights: {"kind": "histogram", "weights": weights},
    st.dictionaries(st.integers(0, 500), _decimals(0.1, 100), min_size=1, max_size=5),
)

_keys = st.one_of(
    st.sampled_from(["uniform", "sequential", "zipfian", "latest", "hotspot", "exponential"]),
    st.builds(lambda kind, theta: {"kind": kind, "theta": theta}, st.sampled_from(["zipfian", "latest"]), _theta),
    st.builds(lambda a, b: {"kind": "hotspot", "data_fraction": a, "operation_fraction": b}, _fraction, _fraction),
    st.builds(
        lambda a, b: {"kind": "exponential", "percentile": a, "fraction": b},
        _decimals(0.01, 99.99),
        _fraction,
    ),
)

_operations = st.fixed_dictionaries(
    {"read": st.integers(1, 20)},
    optional=dict.fromkeys(("update", "insert", "scan", "read_modify_write"), _share),
)

_data = st.fixed_dictionaries(
    {"records": st.integers(1, 10**9)},
    optional={
        "insert_start": st.integers(0, 10**9),
        "fields": st.integers(1, 30),
        "field_length": st.one_of(_length(0), _histogram),
        "insert_order": st.sampled_from(["hashed", "ordered"]),
        "zero_padding": st.integers(0, 64),
        "batch_size": st.integers(1, 1000),
        "database": _name.filter(lambda name: name not in ("admin", "local", "config")),
        "collection": _name,
    },
)

_rate = _decimals(0.001, 1e6)
_length_of_time = st.sampled_from(["10s", "1m30s", "2h"])
_arrivals = st.sampled_from(["even", "poisson"])
_stage = st.one_of(
    st.fixed_dictionaries({"rate": _rate, "for": _length_of_time}),
    st.fixed_dictionaries({"to": _rate, "for": _length_of_time}, optional={"from": st.one_of(st.just(0), _rate)}),
)
_load = st.one_of(
    st.sampled_from(["closed", "unlimited"]),
    st.fixed_dictionaries(
        {"kind": st.just("closed"), "think_time": st.sampled_from(["1us", "5ms"])},
        optional={"think_time_law": st.sampled_from(["constant", "exponential"])},
    ),
    st.fixed_dictionaries({"kind": st.sampled_from(["constant", "poisson"]), "rate": _rate}),
    st.fixed_dictionaries(
        {"kind": st.just("ramp"), "to": _rate, "over": _length_of_time}, optional={"from": _rate, "arrivals": _arrivals}
    ),
    st.fixed_dictionaries(
        {"kind": st.just("stages"), "stages": st.lists(_stage, min_size=1, max_size=4)},
        optional={"arrivals": _arrivals},
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("steps"),
            "from": _decimals(1, 100),
            "to": _decimals(1, 100),
            "step": _decimals(1, 10),
            "every": _length_of_time,
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("tlr"),
            "threads": st.integers(1, 50_000),
            "loops": st.integers(1, 10**9),
            "ramp_up": _length_of_time,
        }
    ),
)


def _without_contradictions(values: dict[str, Any]) -> dict[str, Any]:
    """What contradicts nothing: in T-L-R the load says how many connections and operations there are, a warm-up doesn't
    outlast the load, and no bound exceeds the connections."""
    load = values.get("load")
    if isinstance(load, dict) and load["kind"] == "tlr":
        return {
            key: value for key, value in values.items() if key not in ("connections", "operation_count", "in_flight")
        }
    if isinstance(load, dict) and load["kind"] in ("ramp", "stages", "steps") and "duration" not in values:
        values = {key: value for key, value in values.items() if key != "warmup"}
    if "in_flight" in values:
        values = {**values, "in_flight": min(values["in_flight"], values.get("connections", 32))}
    return values


specs: st.SearchStrategy[Spec] = st.fixed_dictionaries(
    {"data": _data, "operations": _operations},
    optional={
        "name": _name,
        "description": st.text("abc: #é订\n", max_size=20),
        "seed": st.integers(0, 2**64 - 1),
        "keys": _keys,
        "scan_length": _length(1),
        "read_all_fields": st.booleans(),
        "write_all_fields": st.booleans(),
        "load": _load,
        "connections": st.integers(1, 50_000),
        "in_flight": st.integers(1, 50_000),
        "threads": st.integers(1, 256),
        "warmup": st.sampled_from(["0s", "1s", "1m30s"]),
        "duration": st.sampled_from(["10ms", "10s", "2h"]),
        "operation_count": st.integers(1, 10**15),
        "interval": st.sampled_from(["10ms", "1s", "1h"]),
        "slo": st.just({"response_p99": "10ms", "error_rate": "0.1%"}),
        "target": st.sampled_from([{}, {"uri": "mongodb://h:1/?w=2"}, {"write_concern": "majority"}]),
    },
).map(lambda values: Spec.model_validate(_without_contradictions(values)))
