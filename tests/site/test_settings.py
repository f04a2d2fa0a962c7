"""RULE: an unusable value of the environment stops start-up with its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from fabric_site import environment as env

CHECKOUT = Path(__file__).resolve().parents[2]
NAME = "FABRIC_TRIED"


@pytest.mark.parametrize(
    ("read", "raw", "value"),
    [
        (lambda: env.text(NAME, "x"), "  y ", "y"),
        (lambda: env.text(NAME, "x"), "   ", "x"),
        (lambda: env.words(NAME), "a, b,,c ", ("a", "b", "c")),
        (lambda: env.words(NAME, ("d",)), "", ("d",)),
        (lambda: env.flag(NAME, False), "Yes", True),
        (lambda: env.flag(NAME, True), "off", False),
        (lambda: env.flag(NAME, True), "", True),
        (lambda: env.whole(NAME, 1, least=0, most=9), "9", 9),
        (lambda: env.number(NAME, 1.0, least=0, most=1), "0.25", 0.25),
    ],
)
def test_a_variable_is_read_as_what_it_is(monkeypatch, read, raw, value):
    monkeypatch.setenv(NAME, raw)
    assert read() == value


def test_a_variable_that_is_not_set_has_its_default(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    assert (env.text(NAME), env.flag(NAME, True), env.whole(NAME, 7)) == ("", True, 7)


@pytest.mark.parametrize(
    ("read", "raw", "expected"),
    [
        (lambda: env.flag(NAME, False), "maybe", "true or false"),
        (
            lambda: env.whole(NAME, 1, least=1, most=9),
            "ten",
            "a whole number from 1 to 9",
        ),
        (
            lambda: env.whole(NAME, 1, least=1, most=9),
            "10",
            "a whole number from 1 to 9",
        ),
        (
            lambda: env.whole(NAME, 1, least=1, most=9),
            "0",
            "a whole number from 1 to 9",
        ),
        (lambda: env.whole(NAME, 1), "1.5", "a whole number"),
        (lambda: env.number(NAME, 1.0, least=0, most=1), "1.1", "a number from 0 to 1"),
        (lambda: env.number(NAME, 1.0, least=0, most=1), "nan", "a number from 0 to 1"),
    ],
)
def test_a_reader_names_the_variable_it_refuses_and_what_it_takes(
    monkeypatch, read, raw, expected
):
    monkeypatch.setenv(NAME, raw)
    with pytest.raises(ImproperlyConfigured) as refused:
        read()
    assert str(refused.value).startswith(f"{NAME}={raw!r} is not {expected}")


def start(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        cwd=CHECKOUT,
        check=False,
        capture_output=True,
        text=True,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": "/tmp",  # noqa: S108
            "DJANGO_SETTINGS_MODULE": "fabric_site.settings",
            "DATABASE_URL": "postgres://x:y@127.0.0.1:1/x",
            "CELERY_BROKER_URL": "memory://",
            **variables,
        },
    )


def test_it_starts_with_nothing_but_its_addresses():
    done = start()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FABRIC_DEBUG", "perhaps"),
        ("FABRIC_POOL_SIZE", "0"),
        ("DATABASE_URL", "mysql://x:y@127.0.0.1/x"),
        ("FABRIC_OWNER_DATABASE_URL", "nonsense"),
        ("FABRIC_TIME_ZONE", "Mars/Olympus"),
        ("FABRIC_EMBEDDER", "word2vec"),
        ("FABRIC_API_RATE", "lots"),
        ("FABRIC_LOG_LEVEL", "LOUD"),
    ],
)
def test_an_unusable_value_stops_start_up_with_its_name(name, value):
    done = start(**{name: value})
    assert done.returncode != 0
    assert name in done.stderr.strip().splitlines()[-1]
