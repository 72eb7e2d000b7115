"""Measuring: sessions, machines, comparisons, times."""
