"""Kernels on records with other layouts, orders and places, against three other ways to their results."""
