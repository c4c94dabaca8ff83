-- What records mean, as vectors of a model: where the extension `vector` (pgvector) is. Without it these functions do nothing, and whoever prepares the
-- database again once it is there gets the rest.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

-- Whether vectors can be kept and compared.
CREATE FUNCTION has_meaning() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_attribute a JOIN pg_extension e ON e.extname = 'vector' JOIN pg_type t ON t.oid = a.atttypid AND t.typnamespace = e.extnamespace
        WHERE a.attrelid = to_regclass('recall_team.meaning') AND a.attname = 'direction' AND t.typname = 'vector' AND NOT a.attisdropped
    )
$$;

-- What a record meant goes with what it said.
CREATE FUNCTION forget_meaning() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
BEGIN
    DELETE FROM recall_team.meaning m WHERE m.team = OLD.team AND m.project = OLD.project AND m.member = OLD.member
        AND m.author = OLD.author AND m.kind = OLD.kind AND m.id = OLD.id;
    RETURN NULL;
END
$$;

-- Makes what is missing, once the extension is there. Run by whoever prepares the database.
CREATE FUNCTION prepare_meaning() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, recall_team, pg_temp AS $body$
DECLARE
    vectors text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
        IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
            RETURN false;
        END IF;
        BEGIN
            CREATE EXTENSION vector SCHEMA recall_team;
        EXCEPTION WHEN insufficient_privilege THEN
            RETURN false;
        END;
    END IF;
    IF recall_team.has_meaning() THEN
        RETURN true;
    END IF;
    SELECT quote_ident(n.nspname) INTO vectors FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
    -- Without its column, if the extension was removed in the meantime.
    DROP TABLE IF EXISTS recall_team.meaning CASCADE;
    EXECUTE format($f$
        CREATE TABLE recall_team.meaning (
            team int NOT NULL,
            project bigint NOT NULL,
            member int NOT NULL,
            author text NOT NULL,
            kind text NOT NULL,
            id text NOT NULL,
            piece int NOT NULL CHECK (piece BETWEEN 0 AND 63),
            model text NOT NULL CHECK (octet_length(model) BETWEEN 1 AND 256),
            direction %1$s.vector NOT NULL,
            PRIMARY KEY (team, project, member, author, kind, id, piece)
        )$f$, vectors);
    ALTER TABLE recall_team.meaning OWNER TO recall_team_owner;
    ALTER TABLE recall_team.meaning ENABLE ROW LEVEL SECURITY;
    ALTER TABLE recall_team.meaning FORCE ROW LEVEL SECURITY;
    -- Members see and change nothing of it but by the functions below.
    CREATE POLICY administration ON recall_team.meaning TO recall_team_owner USING (true);
    GRANT SELECT ON recall_team.meaning TO recall_team_search;
    CREATE POLICY searches ON recall_team.meaning FOR SELECT TO recall_team_search USING (true);
    DROP TRIGGER IF EXISTS forget_meaning ON recall_team.record;
    CREATE TRIGGER forget_meaning AFTER UPDATE OR DELETE ON recall_team.record FOR EACH ROW EXECUTE FUNCTION recall_team.forget_meaning();

    -- Keeps what a member's own records mean, a row a piece, in place of what is kept of them. Records that do not stand in the version that is given are
    -- left out. They are locked, so that who withdraws one waits for this and takes the vectors with it. Returns how many pieces were kept.
    EXECUTE format($f$
        CREATE OR REPLACE FUNCTION recall_team.put_meaning(
            of_team int, of_author text, of_model text, projects bigint[], kinds text[], ids text[], versions bigint[], directions text[]
        ) RETURNS bigint
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $q$
        DECLARE
            me int := (SELECT f.member FROM recall_team.mine() f WHERE f.team = of_team);
            kept bigint;
        BEGIN
            PERFORM FROM recall_team.record r
                WHERE r.team = of_team AND r.member = me AND r.author = of_author
                    AND (r.project, r.kind, r.id) IN (SELECT * FROM unnest(projects, kinds, ids))
                ORDER BY r.project, r.kind, r.id FOR SHARE;
            DELETE FROM recall_team.meaning m
                WHERE m.team = of_team AND m.member = me AND m.author = of_author
                    AND (m.project, m.kind, m.id) IN (SELECT * FROM unnest(projects, kinds, ids));
            INSERT INTO recall_team.meaning (team, project, member, author, kind, id, piece, model, direction)
                SELECT of_team, g.project, me, of_author, g.kind, g.id,
                    row_number() OVER (PARTITION BY g.project, g.kind, g.id ORDER BY g.place) - 1, of_model, g.direction::%1$s.vector
                FROM unnest(projects, kinds, ids, versions, directions) WITH ORDINALITY AS g(project, kind, id, version, direction, place)
                JOIN recall_team.record r ON r.team = of_team AND r.project = g.project AND r.member = me AND r.author = of_author
                    AND r.kind = g.kind AND r.id = g.id AND r.version = g.version AND NOT r.deleted;
            GET DIAGNOSTICS kept = ROW_COUNT;
            RETURN kept;
        END
        $q$ $f$, vectors);

    -- The records of which a piece is nearest, among those that the member may read and whose vectors are of the same model.
    EXECUTE format($f$
        CREATE OR REPLACE FUNCTION recall_team.search_meaning(of_team int, of_projects bigint[], of_model text, wanted text, at_most int)
        RETURNS TABLE (project bigint, member int, author text, kind text, id text, version bigint, seq bigint, body jsonb, rank real)
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, %1$s, pg_temp AS $q$
            -- Read once, and not for each vector.
            WITH asked AS MATERIALIZED (SELECT wanted::vector AS direction)
            SELECT r.project, r.member, r.author, r.kind, r.id, r.version, r.seq, r.body, n.rank
            FROM (
                SELECT m.project, m.member, m.author, m.kind, m.id,
                    (1 - min(CASE WHEN vector_dims(m.direction) = vector_dims(a.direction) THEN m.direction <=> a.direction END))::real AS rank
                FROM asked a CROSS JOIN recall_team.readable() f JOIN recall_team.meaning m ON m.team = f.team AND m.project = f.project
                WHERE f.team = of_team AND f.project = ANY (of_projects) AND m.model = of_model
                GROUP BY m.project, m.member, m.author, m.kind, m.id
                ORDER BY rank DESC NULLS LAST LIMIT at_most
            ) n
            JOIN recall_team.record r ON r.team = of_team AND r.project = n.project AND r.member = n.member AND r.author = n.author
                AND r.kind = n.kind AND r.id = n.id
            WHERE NOT r.deleted AND n.rank IS NOT NULL
            ORDER BY n.rank DESC, r.seq DESC
        $q$ $f$, vectors);
    REVOKE ALL ON FUNCTION recall_team.put_meaning(int, text, text, bigint[], text[], text[], bigint[], text[]),
        recall_team.search_meaning(int, bigint[], text, text, int) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION recall_team.put_meaning(int, text, text, bigint[], text[], text[], bigint[], text[]),
        recall_team.search_meaning(int, bigint[], text, text, int) TO recall_team_member;
    ALTER FUNCTION recall_team.put_meaning(int, text, text, bigint[], text[], text[], bigint[], text[]) OWNER TO recall_team_owner;
    GRANT CREATE ON SCHEMA recall_team TO recall_team_search;
    ALTER FUNCTION recall_team.search_meaning(int, bigint[], text, text, int) OWNER TO recall_team_search;
    REVOKE CREATE ON SCHEMA recall_team FROM recall_team_search;
    RETURN true;
END
$body$;

REVOKE ALL ON FUNCTION has_meaning(), forget_meaning(), prepare_meaning() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_meaning() TO recall_team_member;
