"""Audit rows are never changed but by sealing, and never deleted: the ORM cannot
hold that, and neither may an operator with the serving login."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL
       AND (to_jsonb(NEW) - 'position' - 'seal') = (to_jsonb(OLD) - 'position' - 'seal')
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'audit rows are append-only';
END $$;
CREATE TRIGGER trg_audit_append_only BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_append_only();
"""
BACKWARD = """
DROP TRIGGER trg_audit_append_only ON audit;
DROP FUNCTION audit_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("connections", "0001_tenancy")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
