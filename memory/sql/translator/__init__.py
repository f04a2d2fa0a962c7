"""Questions in English or German read by rules, as one SELECT or not at all."""

from memory.sql.translator.base import Declined, Translation
from memory.sql.translator.translate import translate

__all__ = ["Declined", "Translation", "translate"]
