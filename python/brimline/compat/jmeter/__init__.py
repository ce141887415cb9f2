"""Owns the translation of a test plan of JMeter into workloads.

Source: JMeter's documentation and what its releases 3 to 5.6 write and do. What has no counterpart is listed by its
line in the file.
"""

from brimline.compat.jmeter.translation import PlanTranslated, from_jmeter

__all__ = ["PlanTranslated", "from_jmeter"]
