"""The keys of an installation."""

from __future__ import annotations

import stat
from base64 import b64decode
from pathlib import Path

import pytest

from connections import embedded


def test_secrets_are_made_once_for_us_alone_and_their_worth_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "secrets.env"
    made = embedded.ensure_secrets(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "loses the stored credentials" in capsys.readouterr().err
    keyid, _, key = made["FIELD_ENCRYPTION_KEYS"].partition(":")
    assert keyid.isalnum()
    assert len(b64decode(key, validate=True)) == 32
    assert len(made["SECRET_KEY"]) >= 50
    assert embedded.ensure_secrets(path) == made
    assert capsys.readouterr().err == ""


def test_keys_in_the_environment_win_and_need_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secrets.env"
    monkeypatch.setenv("SECRET_KEY", "given")
    made = embedded.ensure_secrets(path)
    assert "given" in made.values()
    assert "given" not in path.read_text()
    assert "SECRET_KEY" not in path.read_text().replace("FIELD_ENCRYPTION_KEYS", "")
    monkeypatch.setenv("FIELD_ENCRYPTION_KEYS", "k:eA==")
    assert embedded.ensure_secrets(tmp_path / "none.env") == {
        "SECRET_KEY": "given",
        "FIELD_ENCRYPTION_KEYS": "k:eA==",
    }
    assert not (tmp_path / "none.env").exists()


def test_a_missing_key_is_added_beside_the_ones_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "secrets.env"
    path.write_text("# kept apart\nFIELD_ENCRYPTION_KEYS=a:eA==\n")
    made = embedded.ensure_secrets(path)
    assert made["FIELD_ENCRYPTION_KEYS"] == "a:eA=="
    assert embedded.ensure_secrets(path) == made


def test_a_damaged_secrets_file_is_refused_by_line_and_left_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "secrets.env"
    path.write_text("SECRET_KEY=a\nnonsense\n")
    with pytest.raises(embedded.EmbeddedError, match=r"secrets\.env, line 2"):
        embedded.ensure_secrets(path)
    assert path.read_text() == "SECRET_KEY=a\nnonsense\n"
