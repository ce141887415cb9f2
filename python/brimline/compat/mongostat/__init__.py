"""Owns mongostat's ways: two looks at `serverStatus` become a line of text or of JSON. Only `watching` asks a server.

Columns, their order, rounding and widths are held to recorded output of the real one
(`tests/unit/monitor/test_stat.py`); what those recordings don't show is decided here and told in `docs/guides/stat.md`.
"""

from brimline.compat.mongostat.columns import StatInterval
from brimline.compat.mongostat.fields import Field, chosen_fields, parse_fields
from brimline.compat.mongostat.lines import StatTable, json_line, json_lines, table_lines

__all__ = [
    "Field",
    "StatInterval",
    "StatTable",
    "chosen_fields",
    "json_line",
    "json_lines",
    "parse_fields",
    "table_lines",
]
