-- Transcripts that are still there are read again once, from here on with what their commands did and printed, and with the queue of
-- messages. `evident`: every record of the session was read with its evidence, so that what is not found did not happen.
ALTER TABLE source ADD COLUMN evident INTEGER NOT NULL DEFAULT 0;
UPDATE file SET size = -1, offset = 0;
DELETE FROM unknown_row;
-- A session of which only subagents are known began when they did, and not in 1970.
UPDATE doc SET began_at = coalesce((SELECT min(first_at) FROM source WHERE source.session = doc.session), last_at)
  WHERE began_at = 0 AND session IS NOT NULL;
