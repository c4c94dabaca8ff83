-- `store::folders` asks for the folders of one session, and of each in turn when all of them are read.
CREATE INDEX session_folder_session ON session_folder(session);
