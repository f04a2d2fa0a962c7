"""Lists of the admin that people keep under a name, filtered and sorted."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from connections.models.tenancy import Project, User


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def visible_to(self, user: User) -> SavedViewQuerySet:
        """Keep the user's own, and those shared with a project of theirs."""
        if not user.is_active:
            return self.none()
        mine = Project.objects.visible_to(user)
        return self.filter(Q(owner_id=user.pk) | Q(shared_with__in=mine))


class SavedView(models.Model):
    """A list of one model with its filters, order and search, and no address.

    What it shows is read anew by whoever opens it, as far as they may see it.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="saved_views")
    shared_with = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="saved_views",
        help_text="Whose members see it in their lists; empty: only you.",
    )
    name = models.CharField(max_length=80)
    model = models.CharField(max_length=100, editable=False)
    query = models.CharField(max_length=2000, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        db_table = "saved_views"
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "model", "name"), name="saved_views_name"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="saved_views_has_name"),
        )

    def __str__(self) -> str:
        return self.name
