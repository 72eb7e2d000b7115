"""The store of measurements and choices."""
