-- Until now, two records on one line were both lost: files with such lines are read again, and what is counted of them is counted again.
UPDATE file SET size = -1, offset = 0 WHERE pk IN (SELECT file FROM bad_line WHERE why = 'not JSON');
DELETE FROM unknown_row WHERE file IN (SELECT pk FROM file WHERE size = -1 AND offset = 0);
DELETE FROM bad_line WHERE file IN (SELECT pk FROM file WHERE size = -1 AND offset = 0);
-- Bookkeeping of clients since 2.1.263, which is known by now.
DELETE FROM unknown_row WHERE type IN ('atis-latch', 'cost-state', 'tools-used', 'api-request', 'api-request-shape', 'api-request-blob');
