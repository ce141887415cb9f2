"""Test plans of JMeter."""
