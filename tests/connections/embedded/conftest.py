"""Data roots of their own for the tests, and one server that many share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from connections import embedded
from tests.connections.embedded.servers import (
    CHECKOUT,
    data_root,
)

VARIABLES = ("FABRIC_VAR", "FABRIC_PG_PORT", "SECRET_KEY", "FIELD_ENCRYPTION_KEYS")
ENSURE = "from connections import embedded; s = embedded.ensure_postgres(); "
PRINT = "import os; print(s.pid, s.port, os.stat('/proc/' + str(s.pid)).st_uid)"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root() -> Iterator[Path]:
    with data_root() as folder:
        yield folder


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Path, list[str]]]:
    """A data root whose server four processes made at once, and what each saw."""
    with data_root() as folder:
        environment = os.environ | {"FABRIC_VAR": str(folder)}
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", ENSURE + PRINT],
                cwd=CHECKOUT,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        yield folder, [racer.communicate(timeout=60)[0] for racer in racers]


@pytest.fixture
def server(started: tuple[Path, list[str]]) -> embedded.Server:
    return embedded.ensure_postgres(started[0])
