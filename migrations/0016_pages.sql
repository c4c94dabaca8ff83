-- Pages quote from here on what was said and done: all are written once more.
UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session FROM digest WHERE superseded = 0);
