"""Tuning: choosing a kernel's configuration by measuring a few, and launches recorded for that."""
