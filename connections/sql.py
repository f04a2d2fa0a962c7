"""SQL of tenancy: text only, one caller each."""

AUDIENCES_OF_USER = """
    WITH member (project_id) AS (
        SELECT m.project_id FROM connections_membership m WHERE m.user_id = %(user)s
    ), address (member) AS (
        SELECT a.address FROM connections_useraddress a
         WHERE a.user_id = %(user)s AND a.verified_at IS NOT NULL
    ), direct (id) AS (
        SELECT a.id FROM audiences a JOIN member ON member.project_id = a.project_id
         WHERE a.combines = '' AND a.kind = 'public'
        UNION
        SELECT a.id FROM audiences a
          JOIN member ON member.project_id = a.project_id
          JOIN audience_members am ON am.audience_id = a.id
         WHERE a.combines = ''
           AND (am.user_id = %(user)s
                OR am.member IN (SELECT address.member FROM address))
    ), either (id) AS (
        SELECT direct.id FROM direct
        UNION
        SELECT a.id FROM audiences a JOIN member ON member.project_id = a.project_id
          JOIN audience_parts p ON p.from_audience_id = a.id
          JOIN direct ON direct.id = p.to_audience_id
         WHERE a.combines = 'any'
    )
    SELECT either.id FROM either
    UNION ALL
    SELECT a.id FROM audiences a JOIN member ON member.project_id = a.project_id
     WHERE a.combines = 'all'
       AND EXISTS (SELECT 1 FROM audience_parts p WHERE p.from_audience_id = a.id)
       AND NOT EXISTS (SELECT 1 FROM audience_parts p
                        WHERE p.from_audience_id = a.id
                          AND p.to_audience_id NOT IN (SELECT either.id FROM either))
"""
