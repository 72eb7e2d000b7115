"""Calibration: small kernels measure a device; from their times come the numbers that models reckon with."""
