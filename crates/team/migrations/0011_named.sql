-- Records by the beginning of their id, or by its last eight characters: what people type of an id. As the other searches, this belongs to a role that sees
-- every record, and asks `readable()` itself.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE INDEX ON record (team, project, id COLLATE "C") WHERE NOT deleted;
CREATE INDEX ON record (team, project, (right(id, 8)) COLLATE "C") WHERE NOT deleted;

CREATE FUNCTION search_named(of_team int, of_projects bigint[], wanted text, at_most int)
RETURNS TABLE (project bigint, member int, author text, kind text, id text, version bigint, seq bigint, body jsonb, rank real)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT r.project, r.member, r.author, r.kind, r.id, r.version, r.seq, r.body, 1::real AS rank
    FROM recall_team.readable() f
    JOIN recall_team.record r ON r.team = f.team AND r.project = f.project AND NOT r.deleted
        AND (r.id COLLATE "C" >= wanted AND r.id COLLATE "C" < wanted || U&'\+10FFFF' OR right(r.id, 8) COLLATE "C" = wanted)
    WHERE f.team = of_team AND f.project = ANY (of_projects)
    ORDER BY r.seq DESC LIMIT at_most
$$;

REVOKE ALL ON FUNCTION search_named(int, bigint[], text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_named(int, bigint[], text, int) TO recall_team_member;
RESET ROLE;
GRANT CREATE ON SCHEMA recall_team TO recall_team_search;
ALTER FUNCTION recall_team.search_named(int, bigint[], text, int) OWNER TO recall_team_search;
REVOKE CREATE ON SCHEMA recall_team FROM recall_team_search;
