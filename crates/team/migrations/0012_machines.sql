-- Two machines under one name: a copied disk. Each exchange of a machine leaves a token of its own; whoever comes without the last one is another machine, or
-- one whose data was restored.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE TABLE machine (
    team int NOT NULL,
    member int NOT NULL,
    author text NOT NULL CHECK (octet_length(author) <= 128),
    token text NOT NULL CHECK (octet_length(token) BETWEEN 1 AND 128),
    doubled boolean NOT NULL DEFAULT false, -- another one came since the token was left
    told boolean NOT NULL DEFAULT false,    -- whoever left it was told so when they did
    PRIMARY KEY (team, member, author),
    FOREIGN KEY (team, member) REFERENCES member ON DELETE CASCADE
);
ALTER TABLE machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE machine FORCE ROW LEVEL SECURITY;
-- Members see and change nothing of it but by the function.
CREATE POLICY administration ON machine TO recall_team_owner USING (true);

-- Leaves the token `next` in place of `last`. 'taken': the last one is another, and nothing was left. 'doubled': somebody got that answer since. The same
-- call once more has the same answer.
CREATE FUNCTION check_in(of_team int, of_author text, last text, next text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, recall_team, pg_temp AS $$
DECLARE
    me int := (SELECT f.member FROM recall_team.mine() f WHERE f.team = of_team);
    known recall_team.machine;
BEGIN
    IF me IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s is no member of this team', session_user);
    END IF;
    INSERT INTO recall_team.machine (team, member, author, token) VALUES (of_team, me, of_author, next) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN 'alone';
    END IF;
    SELECT * INTO known FROM recall_team.machine m WHERE m.team = of_team AND m.member = me AND m.author = of_author FOR UPDATE;
    IF known.token = next THEN
        RETURN CASE WHEN known.told THEN 'doubled' ELSE 'alone' END;
    ELSIF known.token = last THEN
        UPDATE recall_team.machine m SET token = next, told = m.doubled, doubled = false
            WHERE m.team = of_team AND m.member = me AND m.author = of_author;
        RETURN CASE WHEN known.doubled THEN 'doubled' ELSE 'alone' END;
    END IF;
    UPDATE recall_team.machine m SET doubled = true WHERE m.team = of_team AND m.member = me AND m.author = of_author;
    RETURN 'taken';
END
$$;

REVOKE ALL ON FUNCTION check_in(int, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_in(int, text, text, text) TO recall_team_member;
