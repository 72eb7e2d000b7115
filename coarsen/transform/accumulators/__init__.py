"""Locations of memory that a loop accesses again and again, kept in registers."""
