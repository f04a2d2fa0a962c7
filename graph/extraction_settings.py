"""Who extracts besides the rules, as the settings name them."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from graph.prompts import PROMPT_VERSION

RULES = "rules"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, read and written."""

    read: float
    written: float


def provider_name() -> str:
    """Return the chat model that is asked besides the rules; "" for none."""
    name = settings.FABRIC["EXTRACTION"]
    return "" if name == RULES else name


def model_id() -> str:
    """Return the model's id, as the provider calls it; "" for its default."""
    return str(settings.FABRIC["EXTRACTION_MODEL"])


def asked_model() -> str:
    """Return under what name answers are kept: provider, model, prompt; "" for none."""
    if not (name := provider_name()):
        return ""
    return f"{name}:{model_id() or 'default'}:{PROMPT_VERSION}"


def price() -> Price | None:
    """Return the price that FABRIC_EXTRACTION_PRICE gives, None where it gives none."""
    given = settings.FABRIC["EXTRACTION_PRICE"]
    if not given:
        return None
    read, _, written = given.partition("/")
    return Price(float(read), float(written or read))
