-- A project is known by the address that clients make of its remote. One in another form would be nobody's: it is refused, with the right one.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

-- `example.com/acme/shop` of all ways in which git names that; NULL of what names no host and path.
CREATE FUNCTION address_of(remote text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- With a scheme; as scp writes it; as it is known.
    parts text[] := coalesce(
        regexp_match(remote, '^(?!file:)[A-Za-z][A-Za-z0-9+.-]*://(?:[^/]*@)?([^/:@.~\s][^/:@\s]*)(?::[^/]*)?/(.+)$'),
        regexp_match(remote, '^(?:[^/:]*@)?([^/:@.~\s][^/:@\s]*):(?!//)(.+)$'),
        regexp_match(remote, '^([^/:@.~\s][^/:@\s]*)/(.+)$')
    );
    path text := rtrim(regexp_replace(trim(BOTH '/' FROM parts[2]), '\.git$', ''), '/');
BEGIN
    RETURN CASE WHEN path <> '' THEN lower(parts[1]) || '/' || path END;
END
$$;

CREATE OR REPLACE FUNCTION add_project(to_team text, of_remote text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(to_team);
    address text := recall_team.address_of(of_remote);
BEGIN
    IF address IS DISTINCT FROM of_remote THEN
        RAISE invalid_parameter_value USING MESSAGE = format(
            'no client knows a project as "%s": add it as "%s"', of_remote, coalesce(address, 'host/path, such as example.com/acme/shop')
        );
    END IF;
    INSERT INTO recall_team.project (team, remote) VALUES (t, of_remote) ON CONFLICT (team, remote) DO NOTHING;
    INSERT INTO recall_team.sequence (team, project) VALUES (t, recall_team.project_of(t, of_remote)) ON CONFLICT DO NOTHING;
END
$$;

REVOKE ALL ON FUNCTION address_of(text) FROM PUBLIC;
