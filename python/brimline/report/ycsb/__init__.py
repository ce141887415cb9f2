"""Owns YCSB's own outputs, composed from run records: measurements, single latencies, status lines, `.hdr` files."""

from brimline.report.ycsb.export import render
from brimline.report.ycsb.hdr_files import write_hdr_files
from brimline.report.ycsb.raw import Points, logged_points, raw_lines, write_raw_file
from brimline.report.ycsb.status import StatusLines
from brimline.report.ycsb.text import measurement_names, measurement_rows

__all__ = [
    "Points",
    "StatusLines",
    "logged_points",
    "measurement_names",
    "measurement_rows",
    "raw_lines",
    "render",
    "write_hdr_files",
    "write_raw_file",
]
