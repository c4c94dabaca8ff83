-- Sums of what sessions took. A record of kind `usage` has it of one session, by day and model, as
-- {"day": "2026-11-20", "usage": [{"day": "2026-11-20", "model": "…", "input": 1, "output": 1, "cache_write": 1, "cache_read": 1, "cost_usd": 0.1}]}, with
-- the last of the days first: those that ended before what is asked for are not looked into.
SET LOCAL ROLE recall_team_owner;
SET LOCAL search_path = recall_team, pg_catalog;

CREATE INDEX ON record (team, project) WHERE kind = 'usage' AND NOT deleted;

-- A figure of a record. A member may have written anything: what is no number is none, and none makes a sum overflow or sink.
CREATE FUNCTION figure(value jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN jsonb_typeof(value) = 'number' THEN least(greatest(value::numeric, 0), 1000000000000) END;

-- By 'author', 'project', 'day' or 'model', from a day on, and the total. With the rights of whoever asks: row-level security decides what is summed. What
-- several machines of a member shared of one session counts once, as it was shared last.
CREATE FUNCTION usage_by(of_team int, of_projects bigint[], grouping_by text, since text) RETURNS TABLE (
    is_total boolean, name text, sessions bigint, input bigint, output bigint, cache_write bigint, cache_read bigint, cost_usd float8, unpriced text[]
)
LANGUAGE sql STABLE SET search_path = pg_catalog, recall_team, pg_temp AS $$
    WITH last AS (
        SELECT DISTINCT ON (r.project, r.member, r.id) r.project, r.member, r.id, r.body FROM recall_team.record r
        WHERE r.team = of_team AND r.project = ANY (of_projects) AND r.kind = 'usage' AND NOT r.deleted
            AND coalesce(r.body->>'day', '9999') >= since COLLATE "C"
        ORDER BY r.project, r.member, r.id, r.seq DESC
    ), session AS (
        SELECT row_number() OVER () AS number, l.body, m.login::text AS author, p.remote AS project
        FROM last l LEFT JOIN recall_team.member m ON m.team = of_team AND m.id = l.member
        LEFT JOIN recall_team.project p ON p.team = of_team AND p.id = l.project
    ), used AS (
        SELECT s.number, left(u->>'model', 100) AS model,
            recall_team.figure(u->'input') AS input, recall_team.figure(u->'output') AS output,
            recall_team.figure(u->'cache_write') AS cache_write, recall_team.figure(u->'cache_read') AS cache_read,
            recall_team.figure(u->'cost_usd') AS cost_usd,
            CASE grouping_by WHEN 'author' THEN s.author WHEN 'project' THEN s.project WHEN 'day' THEN u->>'day' WHEN 'model' THEN left(u->>'model', 100) END AS name
        FROM session s CROSS JOIN LATERAL jsonb_path_query(s.body, 'lax $.usage[*]') AS u
        WHERE u->>'day' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND u->>'day' >= since COLLATE "C"
    )
    SELECT grouping(u.name) = 1, coalesce(u.name, ''), count(DISTINCT u.number),
        coalesce(sum(u.input), 0)::bigint, coalesce(sum(u.output), 0)::bigint, coalesce(sum(u.cache_write), 0)::bigint,
        coalesce(sum(u.cache_read), 0)::bigint, coalesce(sum(u.cost_usd), 0)::float8,
        coalesce(array_agg(DISTINCT u.model) FILTER (WHERE u.cost_usd IS NULL AND u.model IS NOT NULL), '{}')
    FROM used u GROUP BY GROUPING SETS ((u.name), ())
$$;

REVOKE ALL ON FUNCTION figure(jsonb), usage_by(int, bigint[], text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION figure(jsonb), usage_by(int, bigint[], text, text) TO recall_team_member;
