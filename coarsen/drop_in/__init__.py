"""The drop-in for PyOpenCL programs that remembers what tuning found, and tunes.

program ─▶ launch ─▶ remembered? ─▶ tuned? ─▶ as it is
"""
