"""An order under an id of another service: made once, done where it is there, refused where another one is."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.order_service import order_service as service

pytest.importorskip("fastapi", reason="make order-service")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "order-service"))

from order_service import app
from order_service.orders import NewOrder
from seed import _made

_ITEM = {"sku": "sku-1", "n": 2, "price_cents": 995}


class _Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.orders: dict[int, dict[str, Any]] = {}

    async def put(self, order: dict[str, Any]) -> None:
        self.orders[order["id"]] = order

    async def get(self, order_id: int) -> dict[str, Any] | None:
        return self.orders.get(order_id)


@pytest.mark.parametrize("change", [{"customer": "other"}, {"note": "x"}, {"items": [{**_ITEM, "n": 3}]}])
def test_an_id_that_has_another_order_is_refused(change: dict[str, Any]) -> None:
    store = _Kept()
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(worker=SimpleNamespace(store=store))))
    order = {"customer": "one", "items": [_ITEM]}

    def status_of(sent: dict[str, Any]) -> int:
        return asyncio.run(app._put_order(request, "77", NewOrder.model_validate(sent))).status_code

    assert [status_of(each) for each in (order, order, order | change, order)] == [201, 200, 409, 200]
    assert store.orders[77]["customer"] == "one"


def test_what_is_refused_is_not_sent_again() -> None:
    with service() as first, service() as second:
        first.answer = lambda _: (201, {"id": "77"})
        second.answer = lambda _: (409, {"error": "another"})
        with pytest.raises(RuntimeError, match="409"):
            _made([first.uri, second.uri], 1, 1)

    assert second.paths == ["PUT /orders/77"]
