"""Searches over the configurations of a kernel: their interface to measurements."""
