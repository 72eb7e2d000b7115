"""Processes that compile and measure, and can be killed."""
