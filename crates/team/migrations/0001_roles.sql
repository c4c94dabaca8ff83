-- Three roles that nobody logs in as. Roles belong to the server, not to the database: they may be there already.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['recall_team_owner', 'recall_team_search', 'recall_team_member'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server is being prepared at the same moment
        END;
    END LOOP;
END
$$;

-- Who prepares the schema administers it.
GRANT recall_team_owner, recall_team_search TO CURRENT_USER;
-- So that the owner can let a login in.
GRANT recall_team_member TO recall_team_owner WITH ADMIN OPTION;

CREATE SCHEMA recall_team AUTHORIZATION recall_team_owner;
GRANT USAGE ON SCHEMA recall_team TO recall_team_search, recall_team_member;

-- Words that are mistyped (pg_trgm); a project and its words in one index (btree_gin). Both come with PostgreSQL, and the owner of a database may
-- create them.
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA recall_team;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA recall_team;

CREATE TABLE recall_team.migration (
    number int PRIMARY KEY,
    name text NOT NULL,
    done timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE recall_team.migration OWNER TO recall_team_owner;
