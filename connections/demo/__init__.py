"""The demo company: its text, and what makes sources of it."""

from __future__ import annotations

from pathlib import Path

import yaml

QUESTIONS = Path(__file__).parent / "text" / "questions.yaml"


def questions() -> list[str]:
    """Return the sample questions, each answered by the demo's own items."""
    rows = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    return [str(row["question"]) for row in rows]
