"""Numbers of each day: who counts them, how they are kept, how they are read."""
