-- The name of a session's page tells by more than eight characters which session it is if another one is shown alike (`Reader::shares_id8`): the
-- page is outdated when such a one comes or goes. Of ids that begin with the time a few more are taken for alike; their pages stay as they are.
CREATE TRIGGER session_alike_came AFTER INSERT ON session WHEN EXISTS (SELECT 1 FROM page) BEGIN
  UPDATE session SET page_dirty = 1 WHERE pk <> new.pk AND EXISTS (SELECT 1 FROM page WHERE session = session.pk) AND pk IN (
    SELECT s.pk FROM (SELECT substr(new.id, 1, 8) AS shown UNION SELECT substr(new.id, -8)) JOIN session s
      ON s.id >= shown AND s.id < shown || char(1114111)
    UNION SELECT s.pk FROM (SELECT substr(new.id, 1, 8) AS shown UNION SELECT substr(new.id, -8)) JOIN session s ON substr(s.id, -8) = shown
      AND (substr(s.id, 15, 1) = '7' OR substr(s.id, 1, 4) = 'ses_' OR substr(s.id, 14, 1) = '_' OR length(s.id) = 13 AND s.id NOT GLOB '*[^0-9]*'));
END;
CREATE TRIGGER session_alike_gone AFTER DELETE ON session WHEN EXISTS (SELECT 1 FROM page) BEGIN
  UPDATE session SET page_dirty = 1 WHERE EXISTS (SELECT 1 FROM page WHERE session = session.pk) AND pk IN (
    SELECT s.pk FROM (SELECT substr(old.id, 1, 8) AS shown UNION SELECT substr(old.id, -8)) JOIN session s
      ON s.id >= shown AND s.id < shown || char(1114111)
    UNION SELECT s.pk FROM (SELECT substr(old.id, 1, 8) AS shown UNION SELECT substr(old.id, -8)) JOIN session s ON substr(s.id, -8) = shown
      AND (substr(s.id, 15, 1) = '7' OR substr(s.id, 1, 4) = 'ses_' OR substr(s.id, 14, 1) = '_' OR length(s.id) = 13 AND s.id NOT GLOB '*[^0-9]*'));
END;
-- Those that are named too shortly by now.
UPDATE session SET page_dirty = 1 WHERE EXISTS (SELECT 1 FROM page WHERE session = session.pk) AND EXISTS (
  SELECT 1 FROM session o WHERE o.id >= substr(session.id, 1, 8) AND o.id < substr(session.id, 1, 8) || char(1114111) AND o.pk <> session.pk);
