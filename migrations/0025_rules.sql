-- Standing instructions among the user's words that an account quotes, found when the account is stored. They go with it: with its digest, or
-- when it is taken out. `at` and `turn`: when and in which turn it was said. Which of them recur is found whenever somebody asks.
CREATE TABLE rule_mention (
  digest INTEGER NOT NULL REFERENCES digest(pk) ON DELETE CASCADE,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (digest, text)
) WITHOUT ROWID;
CREATE TRIGGER rule_mention_gone AFTER UPDATE OF account ON digest WHEN new.account IS NULL
BEGIN
  DELETE FROM rule_mention WHERE digest = new.pk;
END;
