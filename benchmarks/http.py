"""What a request of HTTP costs the client, beside a bare loop that sends the same bytes, and beside other tools.

    make peers-http

Every client sends the same request to the scripted server, which answers at once, on another core: in a closed loop
with 32 connections, and at a rate. What a client costs is user and system CPU time of its process, of a long run less
that of a short one, so that no start counts, by the requests between the two. Clients take turns, because the machine's
speed drifts; each quotient is the median of those of the same round. wrk, k6 and JMeter take part where they are there.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scripted import RELEASE, ROOT, compile_package, cores, pinned, scripted_server
from brimline import _native
from brimline.plan import HttpTarget, resolve
from brimline.spec import load_spec

ROUNDS = 3
WARM_S = (10, 20)
"""Of what is compiled while it runs: it isn't at its speed in the first seconds."""
CONNECTIONS = 32
PACED_PER_S = 10_000
SCRIPT = '{"http": {"body_bytes": 200}}'
ENGINE = [sys.executable, "-m", "benchmarks.http", "--engine"]
"""Executes the plan on its standard input."""
BARE_LOOP = RELEASE / "examples/bare_loop"
WORKLOAD = """
name: one-get
protocol: http
operations: {get: {share: 1, get: {path: /orders/123456}}}
"""
# What is wanted: brimline's CPU time per request as a multiple of another client's, at most.
WANTED = {"bare": 1.3, "bare, paced": 1.3, "wrk": 1.5, "k6": 0.2, "JMeter": 0.2}


@dataclass(frozen=True, slots=True)
class Client:
    """A client of so many seconds: its command, what it reads, how its output says the number of requests.

    `beside` is the client of brimline's that it is compared with. `seconds`: of the short run and of the long one.
    """

    command: Callable[[int], list[str]]
    requests: Callable[[str], int]
    stdin: Callable[[int], bytes] = lambda _: b""
    beside: str = "brimline"
    seconds: tuple[int, int] = (1, 4)


def main() -> None:
    """Prints µs per request of each round, the medians and the quotients; exit code 3 when one is missed."""
    if len(cores()) < 2:
        sys.exit("error: client and server need a core each, and this process may use only one")
    server_core, client_core = cores()[:2]
    compile_package("brimline-http", "bare_loop")
    compile_package("brimline-testserver")
    with (
        scripted_server(script=SCRIPT, core=server_core, protocol="http") as address,
        tempfile.TemporaryDirectory(prefix="brimline-http-") as directory,
    ):
        clients = _clients(address, Path(directory))
        print(f"client CPU per request in µs, {CONNECTIONS} connections, paced: {PACED_PER_S} requests/s")
        print(f"{'round':8}" + "".join(f"{name:>17}" for name in clients))
        rounds = []
        for number in range(1, ROUNDS + 1):
            rounds.append({name: cost_us(client, core=client_core) for name, client in clients.items()})
            print(_row(str(number), rounds[-1]), flush=True)
    print(_row("median", {name: statistics.median(each[name] for each in rounds) for name in clients}))
    missed = False
    for name, limit in WANTED.items():
        if name not in clients:
            print(f"{name}: is not here")
            continue
        quotient = statistics.median(each[clients[name].beside] / each[name] for each in rounds)
        missed |= quotient > limit
        print(f"{clients[name].beside} / {name}: {quotient:.2f}, wanted at most {limit}")
    if missed:
        print("error: a quotient is higher than wanted", file=sys.stderr)
        sys.exit(3)


def _clients(address: str, directory: Path) -> dict[str, Client]:
    closed, paced = {"kind": "closed"}, {"kind": "constant", "rate": PACED_PER_S}
    request = recorded_request(plan_json(address, seconds=1, load=closed))
    found = {
        "brimline": _engine(address, closed),
        "bare": _bare(address, request, rate=0),
        "brimline, paced": _engine(address, paced),
        "bare, paced": _bare(address, request, rate=PACED_PER_S, beside="brimline, paced"),
    }
    url = f"http://{address}/orders/123456"
    headers = [line for line in request.decode().split("\r\n")[2:] if line and not line.startswith("Connection")]
    if shutil.which("wrk"):
        found["wrk"] = _wrk(url, headers)
    if shutil.which("k6"):
        found["k6"] = _k6(url, headers, directory)
    if jmeter := _jmeter_command():
        found["JMeter"] = _jmeter(jmeter, address, headers, directory)
    return found


def cost_us(client: Client, *, core: int) -> float:
    """CPU time of one request."""
    (short_s, few), (long_s, many) = (_run(client, seconds, core=core) for seconds in client.seconds)
    return (long_s - short_s) / (many - few) * 1e6


def _run(client: Client, seconds: int, *, core: int) -> tuple[float, int]:
    """CPU time of the client's process and its requests."""
    process = subprocess.Popen(
        [*pinned(core), *client.command(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(client.stdin(seconds))
    process.stdin.close()
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {client.command(seconds)[0]} failed\n{output}")
    return used.ru_utime + used.ru_stime, client.requests(output)


def plan_json(address: str, *, seconds: int, load: dict[str, Any]) -> str:
    """The plan of the one request, again and again."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(WORKLOAD)
        file.flush()
        overrides = {
            "load": load,
            "duration": f"{seconds}s",
            "warmup": "0s",
            "connections": CONNECTIONS,
            "threads": 1,
        }
        spec = load_spec(file.name, overrides=overrides).spec
    return resolve(spec, target=HttpTarget(address=address, authority=address)).canonical_json()


def recorded_request(plan: str) -> bytes:
    """The bytes that brimline sends, as a server sees them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = "{}:{}".format(*listener.getsockname())
        changed = json.loads(plan)
        named = changed["target"]["address"]
        seen: list[bytes] = []

        def serve() -> None:
            # Connections without a request come first: whether the server is there.
            while not seen:
                connection, _ = listener.accept()
                with connection:
                    if request := connection.recv(65_536):
                        seen.append(request)
                        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        changed["target"]["address"] = address
        changed |= {"connections": 1, "operation_count": 1, "duration_ns": None}
        subprocess.run(ENGINE, input=json.dumps(changed).encode(), capture_output=True, check=True, timeout=60)
        thread.join(60)
    assert named.encode() in seen[0], "requests name the server that is measured"
    return seen[0]


def _engine(address: str, load: dict[str, Any]) -> Client:
    return Client(
        command=lambda _: ENGINE,
        requests=_engine_requests,
        stdin=lambda seconds: plan_json(address, seconds=seconds, load=load).encode(),
    )


def _engine_requests(output: str) -> int:
    totals = json.loads(output)
    if totals["failed"]:
        sys.exit(f"error: requests failed: {output}")
    return int(totals["ok"])


def _bare(address: str, request: bytes, *, rate: int, beside: str = "brimline") -> Client:
    return Client(
        command=lambda seconds: [str(BARE_LOOP), address, str(CONNECTIONS), str(seconds), str(rate)],
        requests=lambda output: int(json.loads(output)["requests"]),
        stdin=lambda _: request,
        beside=beside,
    )


def _wrk(url: str, headers: list[str]) -> Client:
    words = [word for header in headers for word in ("-H", header)]
    return Client(
        command=lambda seconds: ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", *words, url],
        requests=lambda output: int(output.split(" requests in ")[0].split()[-1]),
    )


def _k6(url: str, headers: list[str], directory: Path) -> Client:
    script = directory / "one.js"
    params = json.dumps({"headers": dict(header.split(": ", 1) for header in headers)})
    script.write_text(
        f'import http from "k6/http";\nexport default function () {{ http.get({json.dumps(url)}, {params}); }}\n'
    )
    summary = directory / "k6.json"
    return Client(
        command=lambda seconds: [
            *("k6", "run", "--quiet", "--no-usage-report", "--summary-export", str(summary)),
            *("--vus", str(CONNECTIONS), "--duration", f"{seconds}s", str(script)),
        ],
        requests=lambda _: int(json.loads(summary.read_text())["metrics"]["http_reqs"]["count"]),
    )


def _jmeter_command() -> list[str]:
    """JMeter from PATH, or as the tests of its plans have fetched it; nothing where it is not."""
    if found := shutil.which("jmeter"):
        return [found]
    home = ROOT / "target" / "jmeter"
    if not (home / "lib" / "ext").is_dir() or not shutil.which("java"):
        return []
    class_path = f"{home}/lib/ext/*:{home}/lib/*"
    return [
        "java",
        f"-Djmeter.home={home}",
        "-Djava.awt.headless=true",
        "-cp",
        class_path,
        "org.apache.jmeter.NewDriver",
    ]


def _jmeter(command: list[str], address: str, headers: list[str], directory: Path) -> Client:
    plan, results = directory / "one.jmx", directory / "results.jtl"
    host, port = address.split(":")
    plan.write_text(_JMX.format(host=host, port=port, connections=CONNECTIONS, headers=_jmeter_headers(headers)))

    def words(seconds: int) -> list[str]:
        results.unlink(missing_ok=True)
        settings = [f"-Jseconds={seconds}", "-Jjmeter.save.saveservice.output_format=csv"]
        return [*command, "-n", "-t", str(plan), "-l", str(results), "-j", str(directory / "jmeter.log"), *settings]

    return Client(command=words, requests=lambda _: len(results.read_text().splitlines()) - 1, seconds=WARM_S)


def _jmeter_headers(headers: list[str]) -> str:
    element = (
        '<elementProp name="" elementType="Header"><stringProp name="Header.name">{}</stringProp>'
        '<stringProp name="Header.value">{}</stringProp></elementProp>'
    )
    return "".join(element.format(*header.split(": ", 1)) for header in headers)


_JMX = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="one">
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments"/>
</elementProp></TestPlan><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="clients">
<stringProp name="ThreadGroup.num_threads">{connections}</stringProp>
<stringProp name="ThreadGroup.ramp_time">0</stringProp>
<boolProp name="ThreadGroup.scheduler">true</boolProp>
<stringProp name="ThreadGroup.duration">${{__P(seconds)}}</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel"
 testclass="LoopController"><intProp name="LoopController.loops">-1</intProp></elementProp></ThreadGroup><hashTree>
<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="headers">
<collectionProp name="HeaderManager.headers">{headers}</collectionProp></HeaderManager><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="get">
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/>
</elementProp><stringProp name="HTTPSampler.domain">{host}</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.protocol">http</stringProp>
<stringProp name="HTTPSampler.path">/orders/123456</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"""


def _row(label: str, costs: dict[str, float]) -> str:
    return f"{label:8}" + "".join(f"{cost:>17.2f}" for cost in costs.values())


def execute() -> None:
    """Executes the plan on standard input, and prints how many requests were answered well, and how many not."""
    run = _native.start(sys.stdin.read())
    while run.poll(10.0)["stage"] != "finished":
        run.take_samples()
    operations = run.join()["operations"].values()
    print(json.dumps({name: sum(row[name] for row in operations) for name in ("ok", "failed")}))


if __name__ == "__main__":
    execute() if sys.argv[1:] == ["--engine"] else main()
