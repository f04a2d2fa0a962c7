"""Management of the site."""
