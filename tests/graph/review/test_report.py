"""The report for people who decide outside, and what comes of their decisions."""

from __future__ import annotations

import csv
import io
import json
import sys
import types
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from connections.models import Audit
from connections.refusals import Refused
from graph.models import ReviewDecision, ReviewItem
from graph.review import kinds
from tests.factories import (
    NOON,
    make_audience,
    make_member,
    make_node,
    make_review_item,
)

try:
    from graph.review import deciding  # noqa: F401 - the queue's own
except ImportError:  # it is written at the same time as this
    fake = types.ModuleType("graph.review.deciding")

    @dataclass(frozen=True, slots=True, kw_only=True)
    class _Decision(kinds.Decision):
        token: str = ""

    @dataclass(frozen=True)
    class _Consequences:
        along: tuple[int, ...] = (1,)
        token: str = "confirmed"

    def _decide(item_id, decision, *, version):
        item = ReviewItem.objects.get(pk=item_id, version=version)
        if not decision.reason:
            raise Refused("Say why: this needs a reason.")
        if decision.verb == "prune":
            assert decision.token == "confirmed"
        is_snooze = decision.verb == "snooze"
        item.state = "snoozed" if is_snooze else "decided"
        item.snoozed_until = decision.until
        item.version += 1
        item.save()
        return ReviewDecision.objects.create(
            tenant_id=item.tenant_id,
            project_id=item.project_id,
            item=item,
            verb=decision.verb,
            reason=decision.reason,
            fingerprint=item.fingerprint,
            decided_by=decision.by,
        )

    fake.decide = _decide
    fake.consequences_of = lambda items, by: _Consequences()
    kinds.Decision = _Decision
    sys.modules["graph.review.deciding"] = fake

from graph.review.outside import carry_out
from graph.review.report import report_rows
from graph.review.report_files import (
    FORMS,
    Filled,
    ReportError,
    read_report,
    write_report,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def items(project, other_project):
    closed = make_audience(project, "slack:P1", ["nobody@acme.test"])
    made = [
        make_review_item(
            project,
            make_node(
                project,
                f"k{n}",
                said,
                title=f"T{n}",
                node_type="decision",
                occurred_at=NOON,
            ),
            priority=10 - n,
            age_days=200,
            threshold=90,
        )
        for n, said in enumerate(
            (
                '=HYPERLINK("http://evil")',
                "We use Go.\n## Item 1, version 0\n- decision: prune",
                "Ships on Friday.",
            )
        )
    ]
    hidden = make_node(project, "secret", "Nobody may know.", audience=closed)
    make_review_item(project, hidden)
    make_review_item(other_project, make_node(other_project, "theirs", "Theirs."))
    done = make_node(project, "done", "Done with.")
    make_review_item(project, done, state="decided")
    return made


def fill(path: Path, answers: dict[int, dict[str, str]]) -> None:
    """Fill a report in, as people would."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(row | answers.get(int(row["item"]), {}) for row in rows)
        path.write_text(out.getvalue())
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        path.write_text(
            "\n".join(json.dumps(row | answers.get(row["item"], {})) for row in rows)
        )
    else:
        for item, said in answers.items():
            head, found, rest = text.partition(f"\n## Item {item}, ")
            for name, value in said.items():
                rest = rest.replace(f"\n- {name}:\n", f"\n- {name}: {value}\n", 1)
            text = head + found + rest
        path.write_text(text)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_filled_in_comes_back(project, items, tmp_path, form):
    path = tmp_path / f"review.{form}"
    assert write_report(path, report_rows(project), form) == 4
    assert read_report(path) == []
    keep = {"decision": "Keep", "reason": "still so"}
    fill(path, {items[1].pk: keep})
    (row,) = read_report(path)
    assert (row.item, row.version) == (items[1].pk, 0)
    assert (row.decision, row.reason) == ("keep", "still so")


def test_no_cell_is_a_formula(project, items, tmp_path):
    path = tmp_path / "review.csv"
    write_report(path, report_rows(project), "csv")
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    assert rows[0]["claim"] == '\'=HYPERLINK("http://evil")'
    cells = [cell for row in rows for cell in row.values()]
    assert len(cells) >= 60
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
    assert rows[0]["evidence"].startswith("slack-export")
    assert (rows[0]["age_days"], rows[0]["decision"]) == ("200", "")


def test_a_reader_gets_what_they_see_and_an_operator_all(project, items, other_project):
    reviewer = make_member(project, role="reviewer")
    seen = [row.key for row in report_rows(project, reader=reviewer)]
    assert seen == ["k0", "k1", "k2"]
    assert [row.key for row in report_rows(project)] == [*seen, "secret"]
    assert [row.key for row in report_rows(other_project)] == ["theirs"]


def test_who_may_not_decide_gets_no_report(project, items, tmp_path, other_project):
    make_member(project, "viewer@acme.test", role="viewer")
    make_member(other_project, "eve@strangers.test", role="admin")
    for email in ("viewer@acme.test", "eve@strangers.test"):
        with pytest.raises(CommandError, match="be a reviewer"):
            call_command(
                "export_review",
                str(tmp_path / "r.csv"),
                "--project",
                "acme/main",
                "--by",
                email,
            )
    assert not list(tmp_path.iterdir())


def row_of(item: ReviewItem, verb: str, **said: object) -> Filled:
    return Filled(
        **{
            "line": 2,
            "item": item.pk,
            "version": item.version,
            "decision": verb,
            "reason": "outside",
            "until": "",
        }
        | said
    )


def test_decisions_are_carried_out_and_a_dry_run_changes_nothing(project, items):
    by = make_member(project, role="reviewer")
    rows = [
        row_of(items[0], "keep"),
        row_of(items[1], "prune"),
        row_of(items[2], "snooze", until="2099-01-31"),
    ]
    if "fake" not in globals():
        rows[2] = replace(rows[2], decision="keep")
    tried = carry_out(project, rows, by)
    assert [outcome.refused for outcome in tried] == ["", "", ""]
    assert ReviewDecision.objects.count() == 0
    assert {
        i.state for i in ReviewItem.objects.filter(pk__in=[i.pk for i in items])
    } == {"open"}
    carry_out(project, rows, by, dry_run=False)
    assert ReviewDecision.objects.filter(decided_by=by).count() == 3
    detail = Audit.objects.get(verb="import.review").detail.detail
    assert (detail["decided"], detail["refused"]) == (3, 0)


def test_what_changed_meanwhile_is_refused_and_the_rest_is_decided(project, items):
    by = make_member(project, role="reviewer")
    ReviewItem.objects.filter(pk=items[0].pk).update(version=1)
    hidden = ReviewItem.objects.get(node__key="secret")
    theirs = ReviewItem.objects.get(node__key="theirs")
    outcomes = carry_out(
        project,
        [
            row_of(items[0], "keep"),
            row_of(items[1], "keep"),
            row_of(items[2], "explode"),
            row_of(items[2], "snooze", until="Friday"),
            row_of(hidden, "keep"),
            row_of(theirs, "keep"),
        ],
        by,
        dry_run=False,
    )
    said = [outcome.refused for outcome in outcomes]
    assert "has changed since" in said[0]
    assert said[1] == ""
    assert "none of keep, prune, snooze" in said[2]
    assert "a snooze needs a day" in said[3]
    assert "no such item" in said[4]
    assert "no such item" in said[5]
    assert ReviewDecision.objects.count() == 1


def test_many_prunes_are_confirmed_by_their_number(project, items):
    by = make_member(project, role="reviewer")
    rows = [row_of(items[0], "prune")] * 51
    with pytest.raises(ReportError, match="--prunes 51"):
        carry_out(project, rows, by, dry_run=False, prunes=50)
    assert ReviewDecision.objects.count() == 0


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("r.csv", "item;version\n1;0\n", "line 1: the column decision is missing"),
        (
            "r.csv",
            "item,version,decision,reason,until\nx,0,keep,,\n",
            "line 2: .*which",
        ),
        ("r.jsonl", "{}\n", "line 1: it does not say which item"),
        ("r.jsonl", "[1]\n", "line 1: it is no JSON object"),
        ("r.jsonl", "{", "line 1: it is no JSON"),
        (
            "r.md",
            "## Item 1, version 0\n\n## Item 1, version 0\n",
            "line 3: .*line 1 too",
        ),
        ("r.txt", "", "is none of"),
    ],
)
def test_what_is_no_report_is_refused_by_line(tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    with pytest.raises(ReportError, match=why):
        read_report(tmp_path / name)


def test_the_commands_write_and_carry_out(project, items, tmp_path, capsys):
    make_member(project, "rita@acme.test", role="reviewer")
    call_command(
        "export_review", str(tmp_path), "--project", "acme/main", "--format", "md"
    )
    assert "4 open items" in capsys.readouterr().out
    assert Audit.objects.get(verb="export.review").detail.detail["items"] == 4
    path = tmp_path / "review.md"
    fill(path, {items[0].pk: {"decision": "keep", "reason": "so"}})
    args = (
        "import_review",
        str(path),
        "--project",
        "acme/main",
        "--by",
        "rita@acme.test",
    )
    call_command(*args)
    assert "Would decide: keep 1" in capsys.readouterr().out
    call_command(*args, "--yes")
    assert "Decided: keep 1" in capsys.readouterr().out
    call_command(*args, "--yes", "--json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert "has changed since" in row["refused"]
