"""One statement again and again by brimline's engine: PROTOCOL HOST PORT USER DATABASE STATEMENT CONNECTIONS TIMES.

Prints the CPU time of its run in seconds: what Python takes to start varies by more than a run costs.
"""

import sys
import tempfile
import time
from pathlib import Path

from brimline import _native
from brimline.plan import SqlTarget, resolve
from brimline.servers.access import Login
from brimline.spec import load_spec

WORKLOAD = """
name: one-statement
protocol: sql
database: {database}
collections: {{bench: existing}}
connections: {connections}
threads: 1
warmup: 0s
duration: null
operation_count: {times}
load: {{kind: closed}}
operations:
  lookup: {{share: 100%, sql: "{statement}"}}
"""


def main() -> None:
    """Exit code 1 when a statement failed."""
    protocol, host, port, user, database, statement, connections, times = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "one-statement.yaml"
        path.write_text(
            WORKLOAD.format(database=database, statement=statement, connections=int(connections), times=int(times))
        )
        spec = load_spec(path).spec
    assert protocol in ("mysql", "postgres")
    target = SqlTarget(kind=protocol, address=f"{host}:{port}", database=database)
    access = _native.Access(login=Login(username=user, password="", source=""))
    plan = resolve(spec, target=target).canonical_json()
    before = time.process_time()
    summary = _native.start(plan, access).join()
    print(time.process_time() - before)
    if summary["failed"] or summary["ok"] != int(times):
        sys.exit(f"error: {summary['failed']} statements failed: {summary['failures']}")


if __name__ == "__main__":
    main()
