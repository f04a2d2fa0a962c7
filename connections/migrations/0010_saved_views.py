"""Lists of the admin that people keep under a name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("connections", "0009_audit_heads")]
    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("model", models.CharField(editable=False, max_length=100)),
                (
                    "query",
                    models.CharField(blank=True, editable=False, max_length=2000),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "shared_with",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose members see it in their lists; empty: only "
                        "you.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="connections.project",
                    ),
                ),
            ],
            options={
                "db_table": "saved_views",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "model", "name"), name="saved_views_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="saved_views_has_name",
                    ),
                ],
            },
        ),
    ]
