"""Owns where histograms come from: the compiled class, unless a caller hands in another."""

from brimline.record.time_histogram import HistogramCodec


def native_codec() -> HistogramCodec:
    """Histograms of the compiled engine, which is imported on first use."""
    from brimline._native import Histogram

    return HistogramCodec(empty=Histogram, decode=Histogram.decode)
