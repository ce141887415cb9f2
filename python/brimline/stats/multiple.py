"""Owns several tests at once: what a p value is worth when it is the smallest of many."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted so that any one below α is significant at α for all of them together.

    Holm 1979, "A simple sequentially rejective multiple test procedure". Needs no independence: p50 and p99 of the
    same runs may go up and down together.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
