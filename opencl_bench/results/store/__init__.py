"""Results in a database: SQLite or PostgreSQL."""
