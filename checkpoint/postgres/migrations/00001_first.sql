-- +goose Up
CREATE TABLE project (
  n    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE thread (
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,                   -- whose server runs it
  id      TEXT NOT NULL,
  name    TEXT NOT NULL,
  seq     BIGINT NOT NULL DEFAULT 0,       -- last one given to a checkpoint
  sum     BYTEA NOT NULL,                  -- SHA-256 of the plain document
  doc     BYTEA NOT NULL,
  UNIQUE (project, id),
  UNIQUE (project, name)
) WITH (fillfactor = 70);                  -- each put writes it anew
CREATE TABLE checkpoint (
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- a parent's is smaller than its children's
  project BIGINT NOT NULL REFERENCES project,
  id      TEXT NOT NULL,
  thread  BIGINT NOT NULL,                 -- which may be gone
  parent  BIGINT NOT NULL,                 -- 0 for none
  fork    BOOLEAN NOT NULL,                -- the parent is another thread's
  seq     BIGINT NOT NULL,
  turn    INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  items   INTEGER NOT NULL,
  chain   INTEGER NOT NULL,
  raw     INTEGER NOT NULL,
  sum     BYTEA NOT NULL,
  data    BYTEA NOT NULL,
  UNIQUE (project, id),
  UNIQUE (thread, seq)
);
ALTER TABLE checkpoint ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed already
CREATE INDEX checkpoint_fork ON checkpoint (project, parent) WHERE fork;
CREATE TABLE orphan (
  thread  BIGINT PRIMARY KEY,              -- gone, and may have left checkpoints that others stand on
  project BIGINT NOT NULL
);
CREATE TABLE execution (
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  id      TEXT NOT NULL,
  thread  TEXT NOT NULL,
  agent   TEXT NOT NULL,
  session TEXT NOT NULL,
  pid     INTEGER NOT NULL,
  started BIGINT NOT NULL,                 -- nanoseconds since 1970, UTC
  ended   BIGINT,                          -- null while it runs
  code    INTEGER NOT NULL DEFAULT 0,
  reason  TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (project, id)
);
CREATE INDEX execution_open ON execution (project, host, started) WHERE ended IS NULL;
CREATE INDEX execution_thread ON execution (project, thread);
CREATE TABLE intent (
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  id      TEXT NOT NULL,
  kind    TEXT NOT NULL,
  thread  TEXT NOT NULL,
  data    BYTEA,
  created BIGINT NOT NULL,
  PRIMARY KEY (project, host, id)
);
CREATE TABLE setting (
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  key     TEXT NOT NULL,
  value   TEXT NOT NULL,
  PRIMARY KEY (project, host, key)
);

-- +goose Down
DROP TABLE setting, intent, execution, orphan, checkpoint, thread, project;
