"""Measuring: machines that run code, sessions that verify and time it."""
