"""What people should look at again, and what comes of their word on it."""
