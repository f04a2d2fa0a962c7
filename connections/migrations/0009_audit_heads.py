"""Signed ends of the audit's chains, what a verification found, and indexes to read by."""

from django.db import migrations, models

from connections.audit_heads import sign

# A row comes without a place in the chain and at the database's own time: whoever may
# insert can neither put one among the sealed nor date it back. A head only moves on, or
# is signed anew where it is.
FORWARD = """
CREATE FUNCTION audit_comes_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.position IS NOT NULL OR NEW.seal <> '' THEN
        RAISE EXCEPTION 'audit rows come unsealed';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER trg_audit_comes_now BEFORE INSERT ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_comes_now();
CREATE FUNCTION audit_head_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.chain = OLD.chain
       AND (NEW.position > OLD.position
            OR (NEW.position = OLD.position AND NEW.seal = OLD.seal))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the end of a chain only moves on';
END $$;
CREATE TRIGGER trg_audit_head_moves_on BEFORE UPDATE OR DELETE ON audit_heads
    FOR EACH ROW EXECUTE FUNCTION audit_head_moves_on();
CREATE INDEX audit_details_words ON audit_details
    USING gin (to_tsvector('simple', left(detail::text, 100000)));
"""
BACKWARD = """
DROP INDEX audit_details_words;
DROP TRIGGER trg_audit_head_moves_on ON audit_heads;
DROP FUNCTION audit_head_moves_on();
DROP TRIGGER trg_audit_comes_now ON audit;
DROP FUNCTION audit_comes_now();
"""


def sign_ends(apps, editor):
    """Sign the ends of chains that were sealed before there were heads."""
    audit = apps.get_model("connections", "Audit").objects.using(
        editor.connection.alias
    )
    heads = apps.get_model("connections", "AuditHead").objects.using(
        editor.connection.alias
    )
    sealed = audit.exclude(position=None).order_by()
    for tenant in sealed.values_list("tenant_id", flat=True).distinct():
        last = sealed.filter(tenant_id=tenant).order_by("-position").first()
        chain = tenant or 0
        heads.create(
            chain=chain,
            position=last.position,
            seal=last.seal,
            signature=sign(chain, last.position, last.seal),
        )


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0008_exposure_chosen"),
    ]
    operations = [
        migrations.CreateModel(
            name="AuditCheck",
            fields=[
                ("chain", models.BigIntegerField(primary_key=True, serialize=False)),
                ("checked_at", models.DateTimeField()),
                ("sealed", models.BigIntegerField()),
                ("waiting", models.BigIntegerField()),
                ("erased", models.BigIntegerField()),
                ("faults", models.BigIntegerField()),
                ("first_fault", models.TextField(blank=True)),
            ],
            options={"db_table": "audit_checks"},
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("chain", models.BigIntegerField(primary_key=True, serialize=False)),
                ("position", models.BigIntegerField()),
                ("seal", models.CharField(max_length=64)),
                ("signature", models.CharField(max_length=128)),
                ("sealed_at", models.DateTimeField(auto_now=True)),
            ],
            options={"db_table": "audit_heads"},
        ),
        migrations.AddIndex(
            model_name="audit",
            index=models.Index(fields=["verb", "-id"], name="audit_verbs"),
        ),
        migrations.AddIndex(
            model_name="audit",
            index=models.Index(fields=["project", "-id"], name="audit_project"),
        ),
        migrations.AddIndex(
            model_name="audit",
            index=models.Index(
                fields=["target", "-id"],
                name="audit_target",
                opclasses=("varchar_pattern_ops", "int8_ops"),
            ),
        ),
        migrations.AddIndex(
            model_name="audit",
            index=models.Index(
                condition=models.Q(("position", None)),
                fields=["tenant", "id"],
                name="audit_waiting",
            ),
        ),
        migrations.AddConstraint(
            model_name="audit",
            constraint=models.UniqueConstraint(
                condition=models.Q(("tenant", None)),
                fields=("position",),
                name="audit_position_once_of_nobody",
            ),
        ),
        migrations.AddConstraint(
            model_name="audit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("position", None), ("seal", "")),
                    models.Q(("position__gte", 1), ("seal__gt", "")),
                    _connector="OR",
                ),
                name="audit_sealed_or_waiting",
            ),
        ),
        migrations.RunPython(sign_ends, migrations.RunPython.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
