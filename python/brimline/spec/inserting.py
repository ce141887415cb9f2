"""Owns what a spec says about inserts that fail: how often a load attempts them again, and after which rest."""

from typing import Annotated

from pydantic import Field

from brimline.spec import fields
from brimline.spec.base import Part
from brimline.units import NS_PER_S


class InsertRetriesSpec(Part):
    """`limit` further attempts of an insert of a load, each after about `interval`."""

    limit: fields.AttemptCount
    """Attempts after the first."""
    interval_ns: Annotated[fields.Rest, Field(alias="interval")] = 3 * NS_PER_S
    """Rest of the connection before each, up to a fifth shorter or longer."""
