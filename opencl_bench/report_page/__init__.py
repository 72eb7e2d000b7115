"""Measurements as one self-contained page for a browser."""
