-- +goose Up
-- The threads in use, neither archived nor deleted, which are all that a start reads, and those at rest, with the
-- sessions that their agents had. Their documents say it, too: the check of all records compares them, and moves those of
-- an older version that are at rest.
CREATE TABLE in_use (n INTEGER PRIMARY KEY);
CREATE TABLE at_rest (n INTEGER PRIMARY KEY, session TEXT NOT NULL);
CREATE INDEX at_rest_session ON at_rest (session) WHERE session <> '';
INSERT INTO in_use SELECT n FROM thread;

-- +goose Down
DROP TABLE at_rest;
DROP TABLE in_use;
