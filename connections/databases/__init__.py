"""Databases as sources of live rows: discovered, guarded, read."""
