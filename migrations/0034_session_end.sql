-- The session whose id is shown by its end is found without a look at each: `store::load::BEGINS_WITH_TIME` says the same of `session s`.
CREATE INDEX session_end ON session(substr(id, -8))
WHERE (substr(id, 15, 1) = '7' OR substr(id, 1, 4) = 'ses_' OR substr(id, 14, 1) = '_' OR length(id) = 13 AND id NOT GLOB '*[^0-9]*');
