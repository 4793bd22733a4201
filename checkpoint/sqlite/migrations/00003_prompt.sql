-- +goose Up
-- What agents were asked. A rescue tells the rows of threads and checkpoints by their number of columns, 6 and 13.
CREATE TABLE prompt (
  n        INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of acceptance
  id       TEXT NOT NULL UNIQUE,
  thread   TEXT NOT NULL,
  open     INTEGER NOT NULL,                  -- 1 while something may come of it
  accepted INTEGER NOT NULL,                  -- nanoseconds since 1970, UTC
  sum      BLOB NOT NULL,                     -- SHA-256 of the document
  doc      BLOB NOT NULL
);
CREATE INDEX prompt_thread ON prompt (thread, n);
CREATE INDEX prompt_open ON prompt (n) WHERE open = 1;

-- +goose Down
DROP TABLE prompt;
