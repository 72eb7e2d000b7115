"""Tests of the browsable report."""
