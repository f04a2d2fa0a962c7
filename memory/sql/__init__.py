"""Questions to SQL: what a person asks, as a statement that a database can answer."""
