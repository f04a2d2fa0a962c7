"""A project as files that people, git and another installation can read."""
