"""Sweeps: candidates compiled ahead, measured one at a time in processes that can be killed."""
