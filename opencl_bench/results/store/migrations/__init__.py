"""The steps from one version of the database schema to the next, run by `store/migration.py` with alembic.

A change of `store/schema.py` comes with a module in `versions` that is written by hand; a test compares the two.
"""
