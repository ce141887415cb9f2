"""Owns collections as `init` reads them, made of documents in memory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import bson

from brimline.dataset.shape import Shape
from brimline.init.live_collection import LiveCollection
from brimline.init.value_shape import shape_of


def live(
    name: str,
    documents: Iterable[Mapping[str, Any]],
    *,
    indexes: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Any] | None = None,
) -> LiveCollection:
    """A collection of these documents, all of them looked at."""
    found = list(documents)
    return LiveCollection(
        name=name,
        count=len(found),
        shape=shape_of(found),
        sampled=len(found),
        document_bytes=len(bson.encode(found[0], codec_options=bson.CodecOptions(uuid_representation=4))),
        stored=Shape(options=options or {}, indexes=indexes),
    )
