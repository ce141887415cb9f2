"""Owns how large a plan's documents are on average."""

from brimline.plan import model
from brimline.plan.rows import sample_row_bytes
from brimline.spec import lengths

_BSON_FIELD_BYTES = 7
_BSON_KEY_BYTES = 35


def mean_document_bytes(data: model.DocumentPlan, seed: int) -> float:
    """Bytes of a document as BSON, on average; of documents from a template the mean of some."""
    if data.template is not None:
        return sample_row_bytes(data, seed=seed, form={"kind": "bson"})
    return _BSON_KEY_BYTES + data.field_count * (
        _BSON_FIELD_BYTES + len(data.field_name_prefix) + 1 + _mean_length(data.field_length)
    )


def _mean_length(length: model.LengthPlan) -> float:
    match length:
        case lengths.ConstantLength():
            return length.length
        case lengths.UniformLength():
            return (length.min + length.max) / 2
        case lengths.ZipfianLength():
            return _zipfian_mean(length.min, length.max)
        case model.HistogramLength():
            total = sum(weight for _, weight in length.weights)
            return sum(value * weight for value, weight in length.weights) / total


def _zipfian_mean(minimum: int, maximum: int, theta: float = 0.99) -> float:
    """By the integrals of k^-theta and k^(1-theta), which is near enough for a size."""
    count = maximum - minimum + 1
    power = 1 - theta
    weight: float = 1 + (count**power - 1) / power
    weighted: float = 1 + (count ** (power + 1) - 1) / (power + 1)
    return minimum - 1 + weighted / weight
