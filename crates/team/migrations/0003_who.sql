-- Who asks, and what they may. These functions go by `session_user`, the role that logged in: neither SET ROLE nor a function with other rights changes
-- that.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE FUNCTION mine() RETURNS TABLE (team int, member int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT m.team, m.id FROM recall_team.member m WHERE m.login = session_user AND m.joined IS NOT NULL
$$;

CREATE FUNCTION readable() RETURNS TABLE (team int, project bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT s.team, s.project FROM recall_team.member m JOIN recall_team.membership s ON s.team = m.team AND s.member = m.id
    WHERE m.login = session_user AND m.joined IS NOT NULL AND s.may_read
$$;

CREATE FUNCTION writable() RETURNS TABLE (team int, project bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT s.team, s.project FROM recall_team.member m JOIN recall_team.membership s ON s.team = m.team AND s.member = m.id
    WHERE m.login = session_user AND m.joined IS NOT NULL AND s.may_write
$$;

-- Whether the member has shared this record: then they may withdraw it, whatever else they may no longer do.
CREATE FUNCTION shared(of_team int, of_project bigint, of_author text, of_kind text, of_id text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM recall_team.record r JOIN recall_team.member m ON m.team = r.team AND m.id = r.member
        WHERE r.team = of_team AND r.project = of_project AND r.author = of_author AND r.kind = of_kind AND r.id = of_id
            AND m.login = session_user AND m.joined IS NOT NULL)
$$;

-- The number of a project in which the member shared something; NULL if there is none of this name.
CREATE FUNCTION shared_project(of_team int, of_remote text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    SELECT p.id FROM recall_team.project p JOIN recall_team.member m ON m.team = p.team
    WHERE p.team = of_team AND p.remote = of_remote AND m.login = session_user AND m.joined IS NOT NULL
        AND EXISTS (SELECT FROM recall_team.record r WHERE r.team = p.team AND r.project = p.id AND r.member = m.id)
$$;

-- Why the policies of a team do not let a record in; NULL if they do.
CREATE FUNCTION refusal(of_team int, of_project bigint, of_kind text, of_body jsonb) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    p recall_team.policy;
BEGIN
    FOR p IN SELECT * FROM recall_team.policy WHERE team = of_team AND project IN (0, of_project) LOOP
        IF p.closed THEN
            RETURN 'the policy of the team lets nothing new in';
        ELSIF NOT of_kind = ANY (p.kinds) THEN
            RETURN format('the policy of the team lets no records of kind "%s" in', of_kind);
        ELSIF octet_length(of_body::text) > p.body_max THEN
            RETURN format('the policy of the team lets no body of more than %s bytes in', p.body_max);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Takes numbers for so many records of a project, and returns the last of them. One transaction after the other: the next waits until this one ends.
CREATE FUNCTION take_numbers(of_team int, of_project bigint, how_many bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    taken bigint;
BEGIN
    -- Nobody holds up a project that is none of theirs.
    IF how_many NOT BETWEEN 1 AND 10000 OR NOT EXISTS (SELECT FROM recall_team.mine() f WHERE f.team = of_team AND (
        EXISTS (SELECT FROM recall_team.writable() w WHERE w.team = of_team AND w.project = of_project)
        OR EXISTS (SELECT FROM recall_team.record r WHERE r.team = of_team AND r.project = of_project AND r.member = f.member)
    )) THEN
        RAISE insufficient_privilege USING MESSAGE = 'you may not share in this project';
    END IF;
    UPDATE recall_team.sequence SET base = last, last = last + how_many, taker = pg_current_xact_id()
        WHERE team = of_team AND project = of_project RETURNING last INTO taken;
    RETURN taken;
END
$$;

-- Gives a record its member, and a number unless it has one that its transaction took. Nothing that a client says can change who shared it, take the
-- number of another, or put an older version over a newer one.
CREATE FUNCTION stamp() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
BEGIN
    -- Locked, so that who leaves waits for what is being pushed, and what is pushed after that finds no member.
    SELECT id INTO NEW.member FROM recall_team.member
        WHERE team = NEW.team AND login = session_user AND joined IS NOT NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s is no member of this team', session_user);
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF NEW.member <> OLD.member THEN
            RAISE insufficient_privilege USING MESSAGE = 'this record is of another member';
        END IF;
        IF (NEW.version, NEW.deleted) < (OLD.version, OLD.deleted) THEN
            RAISE insufficient_privilege USING MESSAGE = format('version %s of this record is newer', OLD.version);
        END IF;
        IF NEW.seq = OLD.seq THEN
            NEW.seq := NULL;
        END IF;
    END IF;
    IF NEW.seq IS NULL THEN
        NEW.seq := recall_team.take_numbers(NEW.team, NEW.project, 1);
    END IF;
    IF NOT EXISTS (
        SELECT FROM recall_team.sequence s WHERE s.team = NEW.team AND s.project = NEW.project
            AND s.taker = pg_current_xact_id() AND NEW.seq > s.base AND NEW.seq <= s.last
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'this number was not taken';
    END IF;
    RETURN NEW;
END
$$;
-- The owner, when it erases what a member shared, gives many numbers at once.
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON record FOR EACH ROW
    WHEN (current_user <> 'recall_team_owner') EXECUTE FUNCTION stamp();

REVOKE ALL ON FUNCTION mine(), readable(), writable(), shared(int, bigint, text, text, text), shared_project(int, text),
    refusal(int, bigint, text, jsonb), take_numbers(int, bigint, bigint), stamp() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mine(), readable(), writable(), shared(int, bigint, text, text, text), shared_project(int, text),
    refusal(int, bigint, text, jsonb), take_numbers(int, bigint, bigint) TO recall_team_member;
GRANT EXECUTE ON FUNCTION readable() TO recall_team_search;
