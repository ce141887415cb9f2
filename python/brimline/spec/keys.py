"""Owns which records operations take, and which keys fields hold: the laws of popularity."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from brimline.spec.base import Part, kind_only
from brimline.spec.fields import Fraction, Percentile, PositiveFraction, Theta


class UniformKeys(Part):
    """Every record equally often."""

    kind: Literal["uniform"] = "uniform"


class SequentialKeys(Part):
    """One record after the other, over and over."""

    kind: Literal["sequential"] = "sequential"


class ZipfianKeys(Part):
    """The k-th most popular record in proportion to k^-theta."""

    kind: Literal["zipfian"] = "zipfian"
    theta: Theta = 0.99
    """How uneven the popularity is; 0 is even."""


class LatestKeys(Part):
    """The k-th newest record in proportion to k^-theta."""

    kind: Literal["latest"] = "latest"
    theta: Theta = 0.99
    """How uneven the popularity is; 0 is even."""


class HotspotKeys(Part):
    """A hot part of the records takes a part of the operations."""

    kind: Literal["hotspot"] = "hotspot"
    data_fraction: PositiveFraction = 0.2
    """Part of the records that is hot."""
    operation_fraction: Fraction = 0.8
    """Part of the operations that goes to the hot records."""


class ExponentialKeys(Part):
    """`percentile` percent of the operations go to the first `fraction` of the records."""

    kind: Literal["exponential"] = "exponential"
    percentile: Percentile = 95.0
    """Percent of the operations that go to the first records."""
    fraction: PositiveFraction = 0.8571428571
    """Part of the records that counts as the first ones."""


Keys = Annotated[
    UniformKeys | SequentialKeys | ZipfianKeys | LatestKeys | HotspotKeys | ExponentialKeys,
    Field(discriminator="kind"),
    BeforeValidator(kind_only),
]
