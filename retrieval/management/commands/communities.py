"""`manage.py communities`: find a project's communities now, or list them."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand, find_user
from connections.models import Project
from retrieval.communities.refresh import RefreshBusy, refresh_communities
from retrieval.models import Community


class Command(ProjectCommand):
    help = "Find the communities of a project's graph; with --list, show them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--list", action="store_true", help="only show them")
        parser.add_argument("--user", default="", help="with --list: as this user")
        parser.add_argument("--limit", type=int, default=20, help="with --list")
        parser.add_argument(
            "--afresh", action="store_true", help="do not start from the present ones"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        if options["list"]:
            self._list(project, options)
            return
        quiet = options["no_progress"]
        try:
            found = refresh_communities(
                project,
                afresh=options["afresh"],
                progress=None if quiet else self.show_progress,
            )
        except RefreshBusy as error:
            raise CommandError(str(error)) from error
        if not quiet:
            self.show_progress("", end=True)
        values = asdict(found)
        if options["json"]:
            self.print_json(values)
        else:
            self.stdout.write(", ".join(f"{n} {v}" for n, v in values.items()))

    def _list(self, project: Project, options: dict[str, Any]) -> None:
        if options["limit"] < 1:
            raise CommandError("--limit must be 1 or more.")
        user = find_user(options["user"])
        rows = (
            Community.objects.all()
            if user is None
            else Community.objects.visible_to(user)
        )
        found = list(rows.of(project).order_by("-size", "pk")[: options["limit"]])
        if options["json"]:
            self.print_json({"communities": [_as_json(each) for each in found]})
            return
        for each in found:
            self.stdout.write(f"{each.size:6}  {each.key}  {each}")
            for sentence in each.summary:
                self.stdout.write(f"        {sentence['text']}")
        if not found:
            self.stdout.write("No communities.")


def _as_json(community: Community) -> dict[str, Any]:
    return {
        "key": community.key,
        "title": community.title,
        "summary": community.summary,
        "size": community.size,
        "share": community.share,
        "types": community.types,
        "refreshed_at": community.refreshed_at,
    }
