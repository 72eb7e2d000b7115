"""Tuning: measure, evaluate, propose, confirm, remember."""
