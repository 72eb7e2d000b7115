"""Tests of the synthetic kernels."""
