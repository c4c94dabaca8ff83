-- What can be told of a digest's session without judging it, and the rules by which that was made; NULL until the next digest makes it
-- from the session's rows.
ALTER TABLE digest ADD COLUMN account BLOB;
ALTER TABLE digest ADD COLUMN account_rules INTEGER;
-- Every run asks which accounts are not by today's rules.
CREATE INDEX digest_account ON digest(account_rules, session) WHERE superseded = 0;
