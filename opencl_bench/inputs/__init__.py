"""Versions of a kernel over many inputs: measured, and as a matrix of times."""
