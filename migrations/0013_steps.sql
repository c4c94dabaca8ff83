-- Looked up for every record, file or private turn that a session gains: without these each time through all that it has so far.
CREATE INDEX asked_parent ON asked(file, parent, session);
CREATE INDEX private_turn_open ON private_turn(session, from_at) WHERE until_at IS NULL;
CREATE INDEX start_first ON start(session, at);
-- In the order in which sources say where a session took place.
CREATE INDEX source_place ON source(session, agent <> '', first_at, file) WHERE cwd IS NOT NULL;
