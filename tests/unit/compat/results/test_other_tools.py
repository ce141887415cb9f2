"""Results of tools that aren't read are named as theirs; what is unknown stays so."""

from pathlib import Path

import pytest

from brimline.compat.results import import_files
from brimline.errors import UsageError

STARS = "*" * 50
GO_YCSB_BEGIN = f'{STARS}\n"operationcount"="1000"\n{STARS}\nRun finished, takes 10.001s\n'
OF_TOOLS = [
    ("JMeter's table of a whole run", "Label,# Samples,Average,Median,90% Line\nGET,10,5,5,9\n"),
    ("JMeter's table of a whole run", "Label,# 样本,平均值,中位数,90% 百分位,95% 百分位,最小值,最大值,异常 %\n"),
    ("JMeter's table of a whole run", "Libellé;# Echantillons;Moyenne;Min;Max;Ecart type;% Erreur;Débit\n"),
    ("JMeter's table of a whole run", "Etiqueta,# Muestras,Media,Mediana,90% Línea,Mín,Máx,% Error\n"),
    ("JMeter's table of a whole run", "라벨,표본 수,평균,중간값,90% 선,95% 선,99% 선,최소값,최대값,오류 %,처리량\n"),
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
    ("autocannon", "Running 10s test @ http://localhost:3000\n10 connections\n"),
    ("k6", "\n     /\\  /  \\     |  |/\n\n  execution: local\n     script: a.js\n"),
    ("ApacheBench", "\nServer Software:        nginx\nServer Hostname:        h\n"),
    ("redis-benchmark", "====== SET ======\n  100000 requests completed in 1.05 seconds\n"),
    ("redis-benchmark", '"test","rps","avg_latency_ms"\n"SET","95238.10","0.2"\n'),
    ("oha", "Summary:\n  Success rate:\t100.00%\n"),
    ("bombardier", "Bombarding http://h:80 for 10s using 125 connection(s)\n"),
    ("BenchBase", "Transaction Type Index,Transaction Name,Start Time (microseconds)\n"),
    ("mongotop", "                    ns    total    read    write    2024-01-01T00:00:00Z\n"),
    ("Vegeta", "1700000000000000000,200,1234,0,12,,\n"),
    ("ApacheBench", "starttime\tseconds\tctime\tdtime\tttime\twait\n"),
    ("hey", "\nSummary:\n  Total:\t1.2345 secs\n"),
    ("Vegeta", "Requests      [total, rate, throughput]         10, 1.11, 1.10\n"),
    ("Gatling", "RUN\tsimulation\tid\t1700000000000\t \t3.9\n"),
    ("Artillery", '{\n  "aggregate": {\n    "counters": {\n'),
    ("sysbench", "sysbench 1.0.20 (using bundled LuaJIT)\n\nRunning the test\n"),
    ("pgbench", "pgbench (16.1)\nstarting vacuum...end.\n"),
    ("memtier_benchmark", "4         Threads\n50        Connections per thread\n"),
    ("memtier_benchmark", "Writing results to stdout\n[RUN #1] Preparing benchmark client...\n"),
    ("memtier_benchmark", "\n\n4         Threads\n50        Connections per thread\n\n\nALL STATS\n"),
    ("memtier_benchmark", "ALL STATS\n=====\nType         Ops/sec     Hits/sec\n-----\n"),
    ("memtier_benchmark", '{\n "configuration":\n {\n },\n "ALL STATS":\n {\n'),
    ("cassandra-stress", "******************** Stress Settings ********************\nCommand:\n"),
    ("cassandra-stress", "Connected to cluster\ntype       total ops,    op/s,    pk/s\ntotal, 100, 10\n"),
    ("go-ycsb", '{\n  "READ": {\n    "Count": "10"\n'),
    ("go-ycsb", "+-----------+---------+\n| OPERATION | TAKES(S)|\n"),
    ("go-ycsb", f'{GO_YCSB_BEGIN}[{{"50th(us)":"401","Count":"9513","Operation":"READ","Takes(s)":"9.9"}}]\n'),
    ("go-ycsb", f"{GO_YCSB_BEGIN}+-----------+----------+\n| OPERATION | TAKES(S) |\n+-----------+----------+\n"),
    ("mongostat", "insert query update delete getmore command dirty used\n    *0    *0     *0     *0       0\n"),
    ("fio", '{\n  "fio version" : "fio-3.33",\n'),
    ("fio", "fio-3.33\nStarting 1 process\n"),
    ("fio", "seq: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n"),
    ("fio", "seq: (g=0): rw=read, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio 2.0.8\n"),
    ("fio", "seq: (groupid=0, jobs=1): err= 0: pid=123: Mon Jan  1 00:00:00 2024\n  read: IOPS=5\n"),
    ("fio", "3;fio-3.33;seq;0;0;1024\n"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "text"), OF_TOOLS)
def test_results_of_other_tools_are_named(tool: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_text(text, encoding="utf-8")
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


@pytest.mark.parametrize(
    ("name", "content", "what", "hint"),
    [
        ("r.jtl", b"version https://hawser.github.com/spec/v1\noid sha256:4d\nsize 1\n", "Git LFS", "git lfs pull"),
        ("r.jtl", b"version http://git-media.io/v/2\noid sha256:4d\nsize 1\n", "Git LFS", "git lfs pull"),
        ("r.jtl", b"/annex/objects/SHA256E-s1--ab.jtl\n", "git-annex", "git annex get r.jtl"),
        ("r.jtl", b"../.git/annex/objects/a/b/KEY/KEY", "git-annex", "git annex get r.jtl"),
        ("r.jtl.Z", b"\x1f\x9d\x90abc", "compressed with compress", "zcat < r.jtl.Z > r.jtl"),
        ("r.jtl.br", b"\x1b\x2f\x00\xf8", "compressed with brotli", "brotli -dc < r.jtl.br > r.jtl"),
        ("r.sz", b"\xff\x06\0\0sNaPpY", "compressed with snappy", "snzip -dc < r.sz > r"),
        ("r.lzma", b"\x5d\0\0\x80\0", "compressed with lzma", "lzcat < r.lzma > r"),
        ("r.htm", b"<!-- saved from url -->\n<html>\n", "a page of HTML", "can be read"),
        ("r.htm", b"<head><title>Report</title>\n", "a page of HTML", "can be read"),
        ("r.htm", b"<table>\n<tr>\n", "a page of HTML", "can be read"),
        ("r.txt", "[OVERALL], RunTime(ms), 5\n".encode("utf-32"), "UTF-32", "iconv -f UTF-32 -t UTF-8 r.txt"),
        ("r.txt", "[OVERALL], RunTime(ms), 5\n".encode("utf-32-be"), "UTF-32", "iconv -f UTF-32BE -t UTF-8 r.txt"),
        ("r.txt", "[OVERALL], RunTime(ms), 5\n".encode("utf-32-le"), "UTF-32", "iconv -f UTF-32LE -t UTF-8 r.txt"),
    ],
)
def test_what_stands_for_results_is_named(name: str, content: bytes, what: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        import_files([path])
    assert what in raised.value.message and hint in (raised.value.hint or "")


def test_a_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory") as raised:
        import_files([tmp_path])
    assert "name the files" in (raised.value.hint or "")
