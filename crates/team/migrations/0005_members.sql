-- What a member does besides reading and writing records.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE FUNCTION schema_version() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT max(number) FROM recall_team.migration
$$;

-- Accepts the invitation to the named team, or to the only one. No row: there is no invitation; two rows: a name is needed.
CREATE FUNCTION join_team(named text) RETURNS TABLE (team int, name text, member int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    invitations int;
BEGIN
    SELECT count(*) INTO invitations FROM recall_team.member m JOIN recall_team.team t ON t.id = m.team
        WHERE m.login = session_user AND (named IS NULL OR t.name = named);
    IF invitations = 1 THEN
        UPDATE recall_team.member m SET joined = now() FROM recall_team.team t
            WHERE t.id = m.team AND m.login = session_user AND (named IS NULL OR t.name = named) AND m.joined IS NULL;
    END IF;
    RETURN QUERY SELECT m.team, t.name, m.id FROM recall_team.member m JOIN recall_team.team t ON t.id = m.team
        WHERE m.login = session_user AND (named IS NULL OR t.name = named) ORDER BY t.name;
END
$$;

-- Removes the bodies of all that a member shared, and says how many. Projects one after the other in the order of their numbers, as pushes take them.
CREATE FUNCTION erase(of_team int, of_member int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    touched bigint;
    before bigint;
    erased bigint;
    total bigint := 0;
BEGIN
    FOR touched IN SELECT DISTINCT project FROM recall_team.record WHERE team = of_team AND member = of_member AND NOT deleted ORDER BY project LOOP
        SELECT last INTO before FROM recall_team.sequence WHERE team = of_team AND project = touched FOR UPDATE;
        CONTINUE WHEN NOT FOUND; -- the project was removed in the meantime, and its records with it
        WITH theirs AS (
            SELECT author, kind, id, row_number() OVER (ORDER BY seq) AS n FROM recall_team.record
            WHERE team = of_team AND project = touched AND member = of_member AND NOT deleted
        )
        UPDATE recall_team.record r SET deleted = true, body = NULL, search = NULL, seq = before + theirs.n FROM theirs
        WHERE r.team = of_team AND r.project = touched AND r.member = of_member
            AND r.author = theirs.author AND r.kind = theirs.kind AND r.id = theirs.id;
        GET DIAGNOSTICS erased = ROW_COUNT;
        UPDATE recall_team.sequence SET last = before + erased, base = before + erased, taker = NULL WHERE team = of_team AND project = touched;
        total := total + erased;
    END LOOP;
    RETURN total;
END
$$;

-- Removes all that the member shared, and the member. NULL: there was none.
CREATE FUNCTION leave_team(of_team int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    me int;
    erased bigint;
BEGIN
    -- Waits for pushes of this member that are under way.
    SELECT id INTO me FROM recall_team.member WHERE team = of_team AND login = session_user FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    erased := recall_team.erase(of_team, me);
    DELETE FROM recall_team.member WHERE team = of_team AND id = me;
    RETURN erased;
END
$$;

REVOKE ALL ON FUNCTION schema_version(), join_team(text), erase(int, int), leave_team(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION schema_version(), join_team(text), leave_team(int) TO recall_team_member;
