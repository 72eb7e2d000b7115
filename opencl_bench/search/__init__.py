"""Searches over the configurations of a kernel: what they ask of whoever measures."""
