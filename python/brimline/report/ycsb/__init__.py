"""Owns YCSB's own outputs, composed from records: measurements as text or JSON, status lines, histograms, latencies."""

from brimline.report.ycsb.export import render
from brimline.report.ycsb.hdr_files import write_hdr_files
from brimline.report.ycsb.missed_target import missed_target
from brimline.report.ycsb.raw import write_raw
from brimline.report.ycsb.status import StatusLines
from brimline.report.ycsb.text import measurement_rows

__all__ = ["StatusLines", "measurement_rows", "missed_target", "render", "write_hdr_files", "write_raw"]
