"""Owns YCSB's own outputs, composed from records: measurements as text or JSON, status lines, histograms, latencies."""

from brimline.compat.ycsb.export import render
from brimline.compat.ycsb.hdr_files import write_hdr_files
from brimline.compat.ycsb.missed_target import missed_target
from brimline.compat.ycsb.raw import write_raw
from brimline.compat.ycsb.status import StatusLines
from brimline.compat.ycsb.text import measurement_rows

__all__ = ["StatusLines", "measurement_rows", "missed_target", "render", "write_hdr_files", "write_raw"]
