"""Who is asked what around a run."""

from dataclasses import replace

import pytest

from brimline.execution.around import Around, around
from brimline.plan import NullTarget, resolve
from brimline.servers import Deployment
from brimline.servers.target_uri import ServerKind
from brimline.spec import load_spec

SOMEBODY = Deployment(
    address="127.0.0.1:1",
    uri_redacted="mongodb://127.0.0.1:1",
    kind="standalone",
    engine="MongoDB",
    version="6.0.5",
    git_version="",
    local=True,
    pid=None,
    cpu_count=2,
)


@pytest.mark.parametrize("protocol", ["mongodb", "http", "mysql", "postgres"])
def test_a_run_that_sends_nothing_asks_no_server(protocol: ServerKind) -> None:
    """A search looks at its generator first, and PostgreSQL was asked for the size of a database without a name."""
    plan = resolve(load_spec("ycsb-c").spec, target=NullTarget())
    assert type(around(plan, replace(SOMEBODY, protocol=protocol))) is Around
