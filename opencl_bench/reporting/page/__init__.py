"""Measurements as one self-contained page for a browser.

results ─▶ places, best configurations, curves, failures, sources ─▶ Report ─▶ one HTML file
"""
