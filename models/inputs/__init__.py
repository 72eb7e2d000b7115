"""Learns from times of a kernel's versions on many inputs which version to run on an input."""
