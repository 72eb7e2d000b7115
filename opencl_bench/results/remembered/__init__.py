"""Remembered choices: what tuning found, kept for later launches and other machines."""
