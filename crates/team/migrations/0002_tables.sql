SET LOCAL ROLE recall_team_owner;
-- With the schemas of the two extensions: another program may have installed them before, elsewhere.
SELECT set_config('search_path', 'recall_team, pg_catalog, ' || string_agg(DISTINCT quote_ident(n.nspname), ', '), true)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('pg_trgm', 'btree_gin');

CREATE TABLE team (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);

-- A role of the server that an administrator let into a team. A number is never given twice, so that tombstones of a member who left are not taken
-- for those of another.
CREATE TABLE member (
    team int NOT NULL REFERENCES team,
    id int GENERATED ALWAYS AS IDENTITY,
    login name NOT NULL,
    joined timestamptz, -- NULL: invited
    PRIMARY KEY (team, id),
    UNIQUE (team, login)
);

CREATE TABLE project (
    team int NOT NULL REFERENCES team,
    id bigint GENERATED ALWAYS AS IDENTITY,
    remote text NOT NULL CHECK (octet_length(remote) BETWEEN 1 AND 1024),
    PRIMARY KEY (team, id),
    UNIQUE (team, remote)
);

-- The last number that was given to a record of a project. Who takes some holds this row until the end of the transaction: numbers become visible in
-- their order, and none is missing when a higher one is seen. Those after `base` and up to `last` belong to the transaction `taker`. Beside `project`,
-- so that reading that stays cheap however often this changes.
CREATE TABLE sequence (
    team int NOT NULL,
    project bigint NOT NULL,
    last bigint NOT NULL DEFAULT 0,
    base bigint NOT NULL DEFAULT 0,
    taker xid8,
    PRIMARY KEY (team, project),
    FOREIGN KEY (team, project) REFERENCES project ON DELETE CASCADE
) WITH (fillfactor = 25);

CREATE TABLE membership (
    team int NOT NULL,
    project bigint NOT NULL,
    member int NOT NULL,
    may_read boolean NOT NULL,
    may_write boolean NOT NULL,
    PRIMARY KEY (team, project, member),
    FOREIGN KEY (team, project) REFERENCES project ON DELETE CASCADE,
    FOREIGN KEY (team, member) REFERENCES member ON DELETE CASCADE
);
CREATE INDEX ON membership (team, member);

-- What members may share, at most. Every row that fits a record holds, so that a further row can only narrow.
CREATE TABLE policy (
    team int NOT NULL REFERENCES team,
    project bigint NOT NULL DEFAULT 0, -- 0: every project of the team
    kinds text[],                      -- NULL: any
    body_max int CHECK (body_max >= 0), -- bytes of the body as text; NULL: any
    closed boolean NOT NULL DEFAULT false, -- nothing new
    PRIMARY KEY (team, project)
);

-- What members share. A record that was withdrawn keeps its key and version, and nothing else.
CREATE TABLE record (
    team int NOT NULL,
    project bigint NOT NULL,
    member int NOT NULL,
    author text NOT NULL CHECK (octet_length(author) <= 128), -- the machine
    kind text NOT NULL CHECK (octet_length(kind) <= 128),
    id text NOT NULL CHECK (octet_length(id) <= 1024),
    version bigint NOT NULL,
    seq bigint NOT NULL,
    deleted boolean NOT NULL,
    body jsonb,
    search text,
    -- Cut, since a vector of words has at most 1 MB.
    words tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple'::regconfig, left(search, 65536))) STORED,
    PRIMARY KEY (team, project, member, author, kind, id),
    CHECK (deleted = (body IS NULL)),
    CHECK (NOT deleted OR search IS NULL)
) PARTITION BY HASH (team, project);

DO $$
BEGIN
    FOR i IN 0..15 LOOP
        EXECUTE format('CREATE TABLE recall_team.record_%s PARTITION OF recall_team.record FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
            lpad(i::text, 2, '0'), i);
    END LOOP;
END
$$;

CREATE UNIQUE INDEX ON record (team, project, seq);
-- All of a member's, when they leave.
CREATE INDEX ON record (team, member) WHERE NOT deleted;
CREATE INDEX ON record USING gin (project, words);
CREATE INDEX ON record USING gin (project, search gin_trgm_ops);
