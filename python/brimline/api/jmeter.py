"""Owns the verb `jmeter`: workloads of a test plan of JMeter."""

from collections.abc import Sequence
from pathlib import Path

from brimline.api.options import typed
from brimline.compat.jmeter.written import JmeterResult, write_workloads


@typed
def jmeter(
    plan: str | Path,
    output: str | Path | None = None,
    *,
    properties: Sequence[str] = (),
    overwrite: bool = False,
) -> JmeterResult:
    """Translates the test plan in a JMX file into workloads, and writes them where `output` is given.

    `output` is a file that ends as YAML does, or a directory; a plan whose thread groups become several workloads needs
    a directory. `properties` are JMeter's, as "threads=20".

    Raises:
        UsageError: a file that can't be read or is no plan, a plan of which nothing can be taken over, a file that is
            there, a property without a name.
    """
    target = None if output is None else Path(output)
    return write_workloads(Path(plan), target, properties=properties, overwrite=overwrite)
