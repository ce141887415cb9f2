"""Owns which fields look like references: their values are the `_id`s of another of the named collections."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from brimline.init.live_collection import LiveCollection
from brimline.init.popularity import Popularity, popularity
from brimline.init.value_shape import ValueShape, scalars_below

_FOUND_SHARE_MIN = 0.8
_ASKED = 50
_TELLING_TYPES = frozenset({"object_id", "uuid"})
"""Values of these types are nobody else's by chance."""
_TELLING_TEXT_LENGTH = 6
_SUFFIX = re.compile(r"(?:[_-]?(?:id|ids|key|ref|no))$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The field `path` of `collection` holds keys of `target`; `found` is the share of those looked up that exist."""

    collection: str
    path: str
    target: str
    found: float
    popularity: Popularity | None


def find_references(
    collections: Sequence[LiveCollection], share_found: Callable[[str, Sequence[Hashable]], float]
) -> list[Reference]:
    """The references among `collections`. `share_found(name, keys)`: which share of some keys is in a collection.

    A field counts where at least 80 % of up to 50 of its values are keys of the other. Of numbers and short texts,
    which coincide by chance, the field's name must speak of the other collection as well.
    """
    found: list[Reference] = []
    for each in collections:
        for path, shape in scalars_below(each.shape):
            if path == "_id":
                continue
            for target in collections:
                if not _may_refer(path, shape, target, is_own=target is each):
                    continue
                share = share_found(target.name, [value for value, _ in shape.distinct.most_common(_ASKED)])
                if share >= _FOUND_SHARE_MIN:
                    drawn = () if shape.many else shape.distinct.values()
                    law = popularity(drawn, key_count=target.count)
                    found.append(
                        Reference(collection=each.name, path=path, target=target.name, found=share, popularity=law)
                    )
                    break
    return found


def _may_refer(path: str, shape: ValueShape, target: LiveCollection, *, is_own: bool) -> bool:
    kind = shape.main_type
    if kind != target.id_shape.main_type or not shape.distinct or kind == "date":
        return False
    telling = kind in _TELLING_TYPES or (kind == "text" and min(shape.sizes) >= _TELLING_TEXT_LENGTH)
    if is_own or not telling:
        return names_speak_of(path, target.name) and (not is_own or telling)
    return True


def names_speak_of(path: str, collection: str) -> bool:
    """Whether `customer_id`, `customer` or `customerId` speaks of the collection `customers`."""
    word = _letters(_SUFFIX.sub("", path.rpartition(".")[2]))
    return len(word) > 1 and word in (_letters(collection), *_singulars(_letters(collection)))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _singulars(word: str) -> list[str]:
    found = []
    if word.endswith("ies"):
        found.append(f"{word[:-3]}y")
    if word.endswith("es"):
        found.append(word[:-2])
    if word.endswith("s"):
        found.append(word[:-1])
    return found
