"""Rows of measurements: which variants, measured against what, confirmed and chosen how."""
