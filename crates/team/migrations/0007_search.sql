-- Searches among records that the member may read. These functions belong to a role that sees every record, and ask `readable()` themselves: see the
-- policy `searches`.
DO $$
DECLARE
    -- Where pg_trgm is: another program may have installed it before.
    trigrams text := (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm');
    found text := 'RETURNS TABLE (project bigint, member int, author text, kind text, id text, version bigint, seq bigint, body jsonb, rank real)';
    -- Ranked are at most 4,000 records that fit, an equal part from each project, but 50 at least: a word that is in more says little.
    ranked text := 'greatest(50, 4000 / greatest(1, cardinality(of_projects)))';
BEGIN
    EXECUTE format($f$
        CREATE FUNCTION recall_team.search_words(of_team int, of_projects bigint[], wanted text, at_most int) %1$s
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $q$
            SELECT c.project, c.member, c.author, c.kind, c.id, c.version, c.seq, c.body, ts_rank(c.words, plainto_tsquery('simple', wanted)) AS rank
            FROM recall_team.readable() f
            CROSS JOIN LATERAL (
                SELECT r.* FROM recall_team.record r
                WHERE r.team = f.team AND r.project = f.project AND r.words @@ plainto_tsquery('simple', wanted) AND NOT r.deleted
                LIMIT %2$s
            ) c
            WHERE f.team = of_team AND f.project = ANY (of_projects)
            ORDER BY rank DESC, c.seq DESC LIMIT at_most
        $q$ $f$, found, ranked);
    EXECUTE format($f$
        CREATE FUNCTION recall_team.search_similar(of_team int, of_projects bigint[], wanted text, at_most int) %1$s
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, %3$s, pg_temp AS $q$
            SELECT c.project, c.member, c.author, c.kind, c.id, c.version, c.seq, c.body, word_similarity(wanted, c.search) AS rank
            FROM recall_team.readable() f
            CROSS JOIN LATERAL (
                SELECT r.* FROM recall_team.record r
                WHERE r.team = f.team AND r.project = f.project AND wanted <%% r.search AND NOT r.deleted
                LIMIT %2$s
            ) c
            WHERE f.team = of_team AND f.project = ANY (of_projects)
            ORDER BY rank DESC, c.seq DESC LIMIT at_most
        $q$ $f$, found, ranked, trigrams);
END
$$;

REVOKE ALL ON FUNCTION recall_team.search_words(int, bigint[], text, int), recall_team.search_similar(int, bigint[], text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recall_team.search_words(int, bigint[], text, int), recall_team.search_similar(int, bigint[], text, int)
    TO recall_team_member;
GRANT CREATE ON SCHEMA recall_team TO recall_team_search;
ALTER FUNCTION recall_team.search_words(int, bigint[], text, int) OWNER TO recall_team_search;
ALTER FUNCTION recall_team.search_similar(int, bigint[], text, int) OWNER TO recall_team_search;
REVOKE CREATE ON SCHEMA recall_team FROM recall_team_search;
