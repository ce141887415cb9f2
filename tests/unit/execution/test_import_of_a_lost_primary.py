"""What an import does once the primary that it writes to is gone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline.errors import TargetError
from brimline.execution import import_data
from brimline.execution.import_collection import Namespace
from brimline.execution.import_progress import ImportSilence
from brimline.plan.model import ReplicaSet
from brimline.record.data_import import ImportState
from brimline.servers import Access, Deployment
from brimline.spec.import_settings import ImportSettings


@pytest.mark.parametrize(("members", "asked"), [(3, True), (1, False)])
def test_the_others_of_a_set_have_time_to_elect_before_they_are_asked(
    monkeypatch: pytest.MonkeyPatch, members: int, asked: bool
) -> None:
    """By default they notice after 10 s that their primary is gone; alone it has nobody to be waited for."""

    def elected(deployment: Deployment, *, connect_timeout_s: float) -> Deployment:
        if connect_timeout_s < 12:
            raise TargetError("the replica set has no primary")
        return deployment

    monkeypatch.setattr(import_data, "primary_now", elected)
    monkeypatch.setattr(import_data._Attempts, "_answers_at", lambda *_: True)
    addresses = tuple(f"127.0.0.1:{1 + place}" for place in range(members))
    deployment = SimpleNamespace(
        address=addresses[0],
        shards=(),
        access=Access(),
        replica_set=ReplicaSet(name="s", members=addresses, selection_timeout_ns=1),
    )
    settings = ImportSettings().to_document()
    state = ImportState(name="d.c", namespace="d.c", settings=settings, inputs=(), object_ids={}, count_before=0)
    writer = SimpleNamespace(state=state, directory=Path())
    context = SimpleNamespace(deployment=deployment, progress=ImportSilence())
    attempts = import_data._Attempts(Namespace("d", "c"), cast(Any, writer), cast(Any, context))
    assert attempts._answers() is asked
