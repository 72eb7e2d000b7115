"""Choices that are remembered."""
