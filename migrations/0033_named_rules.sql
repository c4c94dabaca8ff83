-- What a model says a standing instruction says, where it named it. It helps to tell whether two are one rule, and is told to nobody.
ALTER TABLE rule_mention ADD COLUMN wording TEXT;
