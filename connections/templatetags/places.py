"""What the top of every page needs to know of its reader."""

from __future__ import annotations

from django import template

from connections.models import Database, Project, User

register = template.Library()


@register.simple_tag
def has_databases(user: object, project: object = None) -> bool:
    """Return whether there is a database that `user` may ask, in `project` if given.

    Most installations ask this on every page and have none: the audiences of the user
    are looked up only where a project of theirs has a database.
    """
    if not isinstance(user, User):
        return False
    rows = Database.objects.filter(
        project__in=Project.objects.visible_to(user), enabled=True
    )
    if isinstance(project, Project):
        rows = rows.filter(project=project)
    return (
        rows.exists()
        and rows.filter(pk__in=Database.objects.visible_to(user).values("pk")).exists()
    )
