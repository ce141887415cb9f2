"""Owns what an order is, and what a store of orders has to do."""

from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field


class Item(BaseModel):
    """One line of an order."""

    model_config = ConfigDict(extra="forbid")

    sku: str = Field(min_length=1, max_length=64)
    n: int = Field(ge=1, le=1000)
    price_cents: int = Field(default=0, ge=0, le=10**9)


class NewOrder(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(extra="forbid")

    customer: str = Field(min_length=1, max_length=64)
    items: list[Item] = Field(min_length=1, max_length=100)
    note: str = Field(default="", max_length=1000)


class Store(Protocol):
    """Where orders are kept. An order is a document of plain values; `id` is a whole number of 63 bits."""

    async def put(self, order: dict[str, Any]) -> None:
        """Keeps a new order; it is on disk when this returns."""

    async def get(self, order_id: int) -> dict[str, Any] | None:
        """The order; None: there is none."""

    async def ping(self) -> None:
        """Asks the database for a sign of life."""

    async def close(self) -> None:
        """Ends the connections."""
