"""Inputs that versions are tuned for: drawn, listed, what they cover; versions measured on them, as a matrix."""
