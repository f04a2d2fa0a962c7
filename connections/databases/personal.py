"""Which columns look secret or personal, by their names or by what they hold.

Nobody is asked before a column is first seen, so that a guess decides: what looks
secret begins hidden, what looks personal masked. Staff can open either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from stdnum import iban, luhn

from connections.databases.base import Family

Looks: TypeAlias = Literal["", "personal", "secret"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\u00df-\u00ff]+|\d+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
# One word of a name, or several after one another.
SECRET_NAMES = (
    "password", "passwd", "pwd", "passphrase", "passcode", "passwort", "kennwort",
    "secret", "geheimnis", "token", "credential", "credentials", "salt", "otp", "totp",
    "cvv", "cvc", "pin", "api key", "apikey", "private key", "secret key",
    "access key", "encryption key", "signing key", "auth key", "session key",
    "pass word", "recovery code", "recovery codes",
)  # fmt: skip
PERSONAL_NAMES = (
    "email", "e mail", "mail", "mailadresse", "phone", "telephone", "telefon",
    "telefonnummer", "mobile", "mobil", "mobilnummer", "handy", "handynummer",
    "cellphone", "cell number", "cell phone", "fax", "iban", "bic", "kontonummer",
    "account number", "bank account", "card number", "credit card", "creditcard",
    "kreditkarte", "kreditkartennummer", "ssn", "social security", "national id",
    "passport", "reisepass", "ausweisnummer", "personalausweis", "tax id",
    "steuernummer", "steuer id", "sozialversicherungsnummer", "date of birth", "dob",
    "birth date", "birthdate", "birthday", "geburtsdatum", "geburtstag",
    "ip address", "home address", "street address",
)  # fmt: skip
# What such a word is only spoken of: "phone_type", "email_verified", "token_count".
ABOUT = {
    "type", "kind", "status", "state", "count", "number of", "total", "verified",
    "confirmed", "enabled", "format", "provider", "domain", "template", "subject",
    "typ", "art", "anzahl",
}  # fmt: skip
_SECRET_FAMILIES = ("text", "binary", "json", "other", "number")
_PERSONAL_FAMILIES = ("text", "number", "date", "json", "other", "timestamp", "binary")
PERSONAL_SHARE = 0.2

_SECRET_VALUE = re.compile(
    r"\$(?:2[abxy]|argon2\w*|[156y]|scrypt|pbkdf2[\w-]*)\$"
    r"|^(?:pbkdf2|bcrypt|argon2|scrypt)_?\w*\$"
    r"|BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abdeoprs]-[\w-]{10,}|\bsk-[\w-]{20,}|\b[sr]k_(?:live|test)_\w{10,}"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"
    r"|\b[a-z][a-z0-9+.-]*://[^\s:/@]*:[^\s/@]+@"
)
_EMAIL = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)*\.[^\W\d_]{2,}")
_PHONE = re.compile(
    r"(?:\+|00)[1-9](?:[ ()./-]{0,2}\d){7,14}"
    r"|\(0?\d{1,4}\)(?:[ ./-]?\d){5,10}"
    r"|0\d{1,4}[ /-]\d{3,4}(?:[ -]?\d){2,5}"
    r"|(?:\+?1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}(?:\s?x\d{1,6})?"
)
_SOCIAL = re.compile(r"\d{3}-\d{2}-\d{4}")
_CARD = re.compile(r"[3-6]\d(?:[ -]?\d){11,17}")


def words_of(name: str) -> list[str]:
    """Return the words of a name in small letters: snake_case, camelCase, blanks."""
    return [word.lower().translate(_UMLAUTS) for word in _WORDS.findall(name)]


def looks_by_name(name: str, family: Family) -> Looks:
    """Return what a column's name says of its values; a flag or a time says nothing."""
    words = words_of(name)
    if not words or words[-1] in ABOUT:
        return ""
    said = f" {' '.join(words)} "
    if family in _SECRET_FAMILIES and any(f" {w} " in said for w in SECRET_NAMES):
        return "" if _is_count(family, said) else "secret"
    if family in _PERSONAL_FAMILIES and any(f" {w} " in said for w in PERSONAL_NAMES):
        return "personal"
    return ""


def _is_count(family: Family, said: str) -> bool:
    """Return whether it counts: "tokens" are hidden as text, "token 2" as no number."""
    short = (" pin ", " cvv ", " cvc ", " otp ", " totp ", " passcode ")
    return family == "number" and not any(word in said for word in short)


def looks_by_values(values: Sequence[str]) -> Looks:
    """Return what the values look like: one secret is enough, of personal ones a few
    among many are not."""
    if any(is_secret(value) for value in values):
        return "secret"
    personal = sum(is_personal(value) for value in values)
    return "personal" if values and personal >= PERSONAL_SHARE * len(values) else ""


def is_secret(value: str) -> bool:
    """Return whether a key, a password's hash or an address with a password is in it."""
    return _SECRET_VALUE.search(value) is not None


def is_personal(value: str) -> bool:
    """Return whether it is, or holds, an address, a phone, card or account number."""
    value = value.strip()
    if _EMAIL.search(value) or _PHONE.fullmatch(value) or _SOCIAL.fullmatch(value):
        return True
    if _CARD.fullmatch(value):
        return bool(luhn.is_valid(re.sub(r"\D", "", value)))
    return bool(iban.is_valid(value, check_country=False))
