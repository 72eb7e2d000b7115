"""Searchers of configuration spaces."""
