"""What refers to an observation goes with it, whoever deletes its node."""

from django.db import migrations

KEYS = """
ALTER TABLE observations ADD CONSTRAINT observations_superseded_by_id_there
    FOREIGN KEY (superseded_by_id) REFERENCES observations (node_id)
    ON DELETE SET NULL;
ALTER TABLE observation_references
    ADD CONSTRAINT observation_references_observation_id_there
    FOREIGN KEY (observation_id) REFERENCES observations (node_id) ON DELETE CASCADE;
ALTER TABLE observation_pairs ADD CONSTRAINT observation_pairs_one_id_there
    FOREIGN KEY (one_id) REFERENCES observations (node_id) ON DELETE CASCADE;
ALTER TABLE observation_pairs ADD CONSTRAINT observation_pairs_other_id_there
    FOREIGN KEY (other_id) REFERENCES observations (node_id) ON DELETE CASCADE;
"""
NO_KEYS = """
ALTER TABLE observations DROP CONSTRAINT observations_superseded_by_id_there;
ALTER TABLE observation_references
    DROP CONSTRAINT observation_references_observation_id_there;
ALTER TABLE observation_pairs DROP CONSTRAINT observation_pairs_one_id_there;
ALTER TABLE observation_pairs DROP CONSTRAINT observation_pairs_other_id_there;
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0004_observation_life_tables")]
    operations = [migrations.RunSQL(KEYS, NO_KEYS)]
