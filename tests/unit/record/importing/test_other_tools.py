"""Results of tools that aren't read are named as theirs; what is unknown stays so."""

from pathlib import Path

import pytest

from brimline.errors import UsageError
from brimline.record.importing import import_files

OF_TOOLS = [
    ("JMeter's table of a whole run", "Label,# Samples,Average,Median,90% Line\nGET,10,5,5,9\n"),
    ("JMeter's dashboard", '{\n  "Total" : {\n    "transaction" : "Total",\n    "sampleCount" : 10,\n'),
    ("JMeter's summariser", "Creating summariser <summary>\nsummary +    100 in 00:00:10 =   10.0/s Avg:   5\n"),
    ("Locust", "Type,Name,Request Count,Failure Count,Median Response Time\nGET,/,10,0,5\n"),
    ("Locust", "Timestamp,User Count,Type,Name,Requests/s\n1700000000,1,GET,/,1\n"),
    ("Locust", "Type     Name      # reqs      # fails |    Avg     Min\n--------|-----|------\nGET  /  10\n"),
    ("Locust", '"Type","Name","Request Count","Failure Count"\n"GET","/",10,0\n'),
    ("Locust", "Method,Name,Error,Occurrences\nGET,/,ConnectionError,3\n"),
    ("Locust", '"Method","Name","Error","Occurrences"\n'),
    ("Locust", '"Method","Name","# requests","# failures","Median response time"\n"GET","/",10,0,5\n'),
    ("Locust", '"Type","Name","# requests","# failures","Median response time"\n'),
    ("Locust", '"Name","# requests","50%","66%"\n"GET /",10,5,6\n'),
    ("Locust", '"Timestamp","User count","Type","Name","# requests"\n'),
    ("Locust", "Count,Message,Traceback,Nodes\n"),
    ("Locust", " Name          # reqs      # fails  |     Avg     Min     Max\n------\n GET /  10\n"),
    ("Locust", " Name          # reqs   50%    66%    75%\n"),
    ("Locust", "Response time percentiles (approximated)\n Type     Name      50%    66%    75%\n"),
    ("Locust", "Error report\n # occurrences      Error\n"),
    ("Locust", "[2024-01-01 12:00:00,123] host/INFO/locust.main: Starting Locust 2.20.0\n"),
    ("Locust", '[{"name": "/", "method": "GET", "last_request_timestamp": 1.5, "num_requests": 3}]\n'),
    ("k6", "metric_name,timestamp,metric_value,check\nhttp_reqs,1700000000,1.0,\n"),
    ("k6", '{"type":"Metric","data":{"name":"http_reqs"},"metric":"http_reqs"}\n'),
    ("k6", '{\n  "root_group": {\n    "name": ""\n'),
    ("k6", "\n     http_req_duration..............: avg=5ms min=1ms med=4ms max=9ms\n"),
    ("wrk", "Running 30s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n"),
    ("ApacheBench", "This is ApacheBench, Version 2.3\n"),
    ("ApacheBench", "starttime\tseconds\tctime\tdtime\tttime\twait\n"),
    ("hey", "\nSummary:\n  Total:\t1.2345 secs\n"),
    ("Vegeta", "Requests      [total, rate, throughput]         10, 1.11, 1.10\n"),
    ("Gatling", "RUN\tsimulation\tid\t1700000000000\t \t3.9\n"),
    ("Artillery", '{\n  "aggregate": {\n    "counters": {\n'),
    ("sysbench", "sysbench 1.0.20 (using bundled LuaJIT)\n\nRunning the test\n"),
    ("pgbench", "pgbench (16.1)\nstarting vacuum...end.\n"),
    ("memtier_benchmark", "4         Threads\n50        Connections per thread\n"),
    ("cassandra-stress", "******************** Stress Settings ********************\nCommand:\n"),
    ("cassandra-stress", "Connected to cluster\ntype       total ops,    op/s,    pk/s\ntotal, 100, 10\n"),
    ("go-ycsb", '{\n  "READ": {\n    "Count": "10"\n'),
    ("go-ycsb", "+-----------+---------+\n| OPERATION | TAKES(S)|\n"),
    ("mongostat", "insert query update delete getmore command dirty used\n    *0    *0     *0     *0       0\n"),
    ("fio", '{\n  "fio version" : "fio-3.33",\n'),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "text"), OF_TOOLS)
def test_results_of_other_tools_are_named(tool: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        import_files([path])
    assert raised.value.message == f"results: these are results of {tool}, which are not read"
    assert raised.value.hint


@pytest.mark.parametrize("text", ["hello\n", "{}\n", "a,b\n1,2\n", "READ 5\n", "Type of thing\n", "\n\n"])
def test_what_is_unknown_is_no_other_tools(text: str, tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_text(text)
    with pytest.raises(UsageError, match="it holds no results that can be read"):
        import_files([path])
