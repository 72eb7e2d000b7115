"""Tests of the kernels of free launch."""
