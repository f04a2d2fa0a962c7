from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from tests.graph.test_ingest import make_export

pytestmark = pytest.mark.django_db


class TestCommand:
    def run(self, capsys, *args, **options):
        call_command("ingest", *args, json=True, no_progress=True, **options)
        return json.loads(capsys.readouterr().out)

    def test_it_reports_what_the_contract_lists(self, capsys, tmp_path):
        answer = self.run(
            capsys, "slack", str(make_export(tmp_path)), project="acme/new", create=True
        )
        assert set(answer) == {
            "seen",
            "created",
            "updated",
            "unchanged",
            "deleted",
            "failed",
            "nodes",
            "edges",
            "seconds",
            "errors",
        }
        assert (answer["seen"], answer["created"], answer["errors"]) == (8, 8, [])
        assert answer["nodes"] > 8
        assert answer["edges"] > 20

    def test_failed_items_are_listed_and_are_no_error(self, capsys, tmp_path):
        export = make_export(tmp_path)
        (export / "general" / "2023-05-10.json").write_text("{no json")
        answer = self.run(capsys, "slack", str(export), project="acme/new", create=True)
        assert answer["failed"] == 1
        assert set(answer["errors"][0]) == {"item", "error"}

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("slack", "/nowhere"), "does not exist"),
            (("telegraph", "."), "There is no connector 'telegraph'"),
        ],
    )
    def test_what_cannot_run_says_why(self, project, args, message):
        with pytest.raises(CommandError, match=message):
            call_command("ingest", *args, project=project.path, no_progress=True)

    def test_a_project_is_made_only_when_asked(self, tmp_path, db):
        with pytest.raises(CommandError, match="add --create"):
            call_command("ingest", "slack", str(tmp_path), project="no/where")
        with pytest.raises(CommandError, match="TENANT/PROJECT"):
            call_command("ingest", "slack", str(tmp_path), project="nowhere")
