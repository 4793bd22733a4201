-- +goose Up
-- A thread at rest is archived or deleted, as its document says: a start reads the others only. Those of an older
-- version count as in use until they have been read.
ALTER TABLE thread ADD COLUMN rests BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE thread ADD COLUMN session TEXT NOT NULL DEFAULT ''; -- that the agent of one at rest had
CREATE INDEX thread_in_use ON thread (project, host, n) WHERE NOT rests;
CREATE INDEX thread_session ON thread (project, host, session) WHERE session <> '';

-- +goose Down
DROP INDEX thread_session;
DROP INDEX thread_in_use;
ALTER TABLE thread DROP COLUMN session;
ALTER TABLE thread DROP COLUMN rests;
