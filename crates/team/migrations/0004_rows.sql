-- Which rows a member sees and changes. Forced: the owner of the tables is held to them as well. Partitions have no policy at all, so that nobody
-- gets around those of the table by naming one.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

DO $$
DECLARE
    t regclass;
BEGIN
    FOR t IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'recall_team'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
    END LOOP;
END
$$;

GRANT SELECT ON team, member, project, membership, policy, record TO recall_team_member;
-- Not `member`, which the trigger gives; it also looks at `seq`.
GRANT INSERT (team, project, author, kind, id, version, seq, body, search, deleted) ON record TO recall_team_member;
GRANT UPDATE (version, seq, body, search, deleted) ON record TO recall_team_member;
GRANT SELECT ON record TO recall_team_search;

CREATE POLICY administration ON team TO recall_team_owner USING (true);
CREATE POLICY administration ON member TO recall_team_owner USING (true);
CREATE POLICY administration ON project TO recall_team_owner USING (true);
CREATE POLICY administration ON sequence TO recall_team_owner USING (true);
CREATE POLICY administration ON membership TO recall_team_owner USING (true);
CREATE POLICY administration ON policy TO recall_team_owner USING (true);
CREATE POLICY administration ON migration TO recall_team_owner USING (true);

CREATE POLICY mine ON team FOR SELECT TO recall_team_member USING (id IN (SELECT f.team FROM recall_team.mine() f));
CREATE POLICY of_my_team ON member FOR SELECT TO recall_team_member USING (team IN (SELECT f.team FROM recall_team.mine() f));
CREATE POLICY mine ON membership FOR SELECT TO recall_team_member
    USING ((team, member) IN (SELECT f.team, f.member FROM recall_team.mine() f));
CREATE POLICY mine ON project FOR SELECT TO recall_team_member USING (
    (team, id) IN (SELECT f.team, f.project FROM recall_team.readable() f)
    OR (team, id) IN (SELECT f.team, f.project FROM recall_team.writable() f));
CREATE POLICY of_my_team ON policy FOR SELECT TO recall_team_member USING (team IN (SELECT f.team FROM recall_team.mine() f));

CREATE POLICY reads ON record FOR SELECT TO recall_team_member USING (
    (team, project) IN (SELECT f.team, f.project FROM recall_team.readable() f)
    OR (team, member) IN (SELECT f.team, f.member FROM recall_team.mine() f));
CREATE POLICY shares ON record FOR INSERT TO recall_team_member WITH CHECK (
    (team, member) IN (SELECT f.team, f.member FROM recall_team.mine() f)
    AND CASE WHEN (team, project) IN (SELECT f.team, f.project FROM recall_team.writable() f)
        THEN deleted OR recall_team.refusal(team, project, kind, body) IS NULL
        ELSE deleted AND recall_team.shared(team, project, author, kind, id) END);
CREATE POLICY changes ON record FOR UPDATE TO recall_team_member
    USING ((team, member) IN (SELECT f.team, f.member FROM recall_team.mine() f))
    WITH CHECK (
        (team, member) IN (SELECT f.team, f.member FROM recall_team.mine() f)
        AND (deleted OR (
            (team, project) IN (SELECT f.team, f.project FROM recall_team.writable() f)
            AND recall_team.refusal(team, project, kind, body) IS NULL)));

-- The owner reads and removes, and cannot put words into a member's mouth.
CREATE POLICY administration_reads ON record FOR SELECT TO recall_team_owner USING (true);
CREATE POLICY administration_erases ON record FOR UPDATE TO recall_team_owner USING (true) WITH CHECK (deleted);
CREATE POLICY administration_removes ON record FOR DELETE TO recall_team_owner USING (true);
-- The functions that search decide themselves what the member may see: under a policy, an index on words could not be used, since PostgreSQL does not
-- let their operators see a row before the policy has.
CREATE POLICY searches ON record FOR SELECT TO recall_team_search USING (true);
