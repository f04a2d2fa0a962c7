"""What the site adds to every list of the admin; Django imports it with the others."""

from fabric_site import empty_states

__all__ = ["empty_states"]
