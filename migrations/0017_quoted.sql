-- Digests without a model hold from here on what can be counted, near-duplicates are known by what was said, and the search finds what was
-- committed: the accounts' new rules make the digests again, these the rest.
DELETE FROM likeness;
UPDATE session SET page_dirty = 1, unindexed = 1 WHERE pk IN (SELECT session FROM digest WHERE superseded = 0);
