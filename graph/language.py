"""The language of a text, as the name of a text-search configuration."""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# ISO 639-1 to the configurations PostgreSQL ships.
CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
# Shorter texts, and less certain guesses, keep the language of their project.
LEAST_CHARACTERS = 120
LEAST_PROBABILITY = 0.99
READ_CHARACTERS = 240


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(CONFIGURATIONS))
    return identifier


def detect_language(text: str) -> str:
    """Return the configuration of the language `text` is surely in, else ""."""
    if len(text) < LEAST_CHARACTERS:
        return ""
    language, probability = _identifier().classify(text[:READ_CHARACTERS])
    return CONFIGURATIONS[language] if probability >= LEAST_PROBABILITY else ""
