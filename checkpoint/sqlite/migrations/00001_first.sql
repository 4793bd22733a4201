-- +goose Up
CREATE TABLE thread (
  n    INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: checkpoints outlive their thread
  id   TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  seq  INTEGER NOT NULL DEFAULT 0,        -- last one given to a checkpoint
  sum  BLOB NOT NULL,                     -- SHA-256 of the plain document
  doc  BLOB NOT NULL
);
-- Small columns first: walking a lineage then never reads the pages that a record spills into.
CREATE TABLE checkpoint (
  n      INTEGER PRIMARY KEY,             -- a parent's is smaller than its children's
  id     TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL,
  parent INTEGER NOT NULL,                -- 0 for none
  fork   INTEGER NOT NULL,                -- 1 when the parent is another thread's
  seq    INTEGER NOT NULL,
  turn   INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  items  INTEGER NOT NULL,
  chain  INTEGER NOT NULL,
  raw    INTEGER NOT NULL,
  sum    BLOB NOT NULL,
  data   BLOB NOT NULL
);
CREATE UNIQUE INDEX checkpoint_seq ON checkpoint (thread, seq);
CREATE INDEX checkpoint_fork ON checkpoint (parent) WHERE fork = 1;
-- Threads that are gone and may have left checkpoints that others stand on.
CREATE TABLE orphan (thread INTEGER PRIMARY KEY);
CREATE TABLE execution (
  id      TEXT NOT NULL PRIMARY KEY,
  thread  TEXT NOT NULL,
  agent   TEXT NOT NULL,
  session TEXT NOT NULL,
  pid     INTEGER NOT NULL,
  started INTEGER NOT NULL,               -- nanoseconds since 1970, UTC
  ended   INTEGER,                        -- null while it runs
  code    INTEGER NOT NULL DEFAULT 0,
  reason  TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX execution_open ON execution (started) WHERE ended IS NULL;
CREATE INDEX execution_thread ON execution (thread);
CREATE TABLE intent (
  id      TEXT NOT NULL PRIMARY KEY,
  kind    TEXT NOT NULL,
  thread  TEXT NOT NULL,
  data    BLOB,
  created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE setting (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- +goose Down
DROP TABLE setting;
DROP TABLE intent;
DROP TABLE execution;
DROP TABLE orphan;
DROP TABLE checkpoint;
DROP TABLE thread;
