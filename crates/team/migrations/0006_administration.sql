-- What an administrator does. Only members of recall_team_owner may call these.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE FUNCTION team_of(named text) RETURNS int
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    found int;
BEGIN
    SELECT id INTO found FROM recall_team.team WHERE name = named;
    IF found IS NULL THEN
        RAISE no_data_found USING MESSAGE = format('there is no team "%s"', named);
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION project_of(of_team int, named text) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    found bigint;
BEGIN
    SELECT id INTO found FROM recall_team.project WHERE team = of_team AND remote = named;
    IF found IS NULL THEN
        RAISE no_data_found USING MESSAGE = format('the team has no project "%s"', named);
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION member_of(of_team int, named name) RETURNS int
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    found int;
BEGIN
    SELECT id INTO found FROM recall_team.member WHERE team = of_team AND login = named;
    IF found IS NULL THEN
        RAISE no_data_found USING MESSAGE = format('the team has no member "%s"', named);
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION add_team(named text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
    INSERT INTO recall_team.team (name) VALUES (named) ON CONFLICT (name) DO NOTHING
$$;

-- Invites a role of this server, which has to be there.
CREATE FUNCTION add_member(to_team text, of_login name) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
BEGIN
    INSERT INTO recall_team.member (team, login) VALUES (recall_team.team_of(to_team), of_login) ON CONFLICT (team, login) DO NOTHING;
    -- Roles are shared by all databases of the server, and two administrators may let the same one in.
    PERFORM pg_advisory_xact_lock(hashtext('recall_team_member'));
    IF NOT EXISTS (
        SELECT FROM pg_auth_members a WHERE a.roleid = 'recall_team_member'::regrole AND a.member = of_login::text::regrole
    ) THEN
        EXECUTE format('GRANT recall_team_member TO %I', of_login);
    END IF;
END
$$;

CREATE FUNCTION add_project(to_team text, of_remote text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(to_team);
BEGIN
    INSERT INTO recall_team.project (team, remote) VALUES (t, of_remote) ON CONFLICT (team, remote) DO NOTHING;
    INSERT INTO recall_team.sequence (team, project) VALUES (t, recall_team.project_of(t, of_remote)) ON CONFLICT DO NOTHING;
END
$$;

-- Says what a member may do in a project; neither takes them out of it. What they shared stays until they withdraw it or leave.
CREATE FUNCTION set_access(in_team text, of_login name, of_remote text, reads boolean, writes boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(in_team);
    m int := recall_team.member_of(t, of_login);
    p bigint := recall_team.project_of(t, of_remote);
BEGIN
    IF NOT reads AND NOT writes THEN
        DELETE FROM recall_team.membership WHERE team = t AND project = p AND member = m;
    ELSE
        INSERT INTO recall_team.membership (team, project, member, may_read, may_write) VALUES (t, p, m, reads, writes)
            ON CONFLICT (team, project, member) DO UPDATE SET may_read = excluded.may_read, may_write = excluded.may_write;
    END IF;
END
$$;

-- Replaces the policy of a project, or of the whole team if no project is named. What was shared before stays.
CREATE FUNCTION set_policy(of_team text, of_remote text, only_kinds text[], at_most int, nothing_new boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(of_team);
    p bigint := 0;
BEGIN
    IF of_remote IS NOT NULL THEN
        p := recall_team.project_of(t, of_remote);
    END IF;
    INSERT INTO recall_team.policy (team, project, kinds, body_max, closed) VALUES (t, p, only_kinds, at_most, nothing_new)
        ON CONFLICT (team, project) DO UPDATE SET kinds = excluded.kinds, body_max = excluded.body_max, closed = excluded.closed;
END
$$;

-- As if the member had left. Returns how many records were erased.
CREATE FUNCTION remove_member(from_team text, of_login name) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(from_team);
    m int;
    erased bigint;
BEGIN
    SELECT id INTO m FROM recall_team.member WHERE team = t AND login = of_login FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    erased := recall_team.erase(t, m);
    DELETE FROM recall_team.member WHERE team = t AND id = m;
    RETURN erased;
END
$$;

-- Removes a project with all its records. No tombstones stay: whoever pulls learns it from the list of their projects.
CREATE FUNCTION remove_project(from_team text, of_remote text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    t int := recall_team.team_of(from_team);
    p bigint := recall_team.project_of(t, of_remote);
BEGIN
    -- First, so that a push that waits for it finds no project.
    DELETE FROM recall_team.sequence WHERE team = t AND project = p;
    DELETE FROM recall_team.record WHERE team = t AND project = p;
    DELETE FROM recall_team.policy WHERE team = t AND project = p;
    DELETE FROM recall_team.project WHERE team = t AND id = p;
END
$$;

REVOKE ALL ON FUNCTION team_of(text), project_of(int, text), member_of(int, name), add_team(text), add_member(text, name), add_project(text, text),
    set_access(text, name, text, boolean, boolean), set_policy(text, text, text[], int, boolean), remove_member(text, name),
    remove_project(text, text) FROM PUBLIC;
