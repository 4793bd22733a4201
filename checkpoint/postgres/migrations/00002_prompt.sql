-- +goose Up
CREATE TABLE prompt (
  n        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of acceptance
  project  BIGINT NOT NULL REFERENCES project,
  host     TEXT NOT NULL,
  id       TEXT NOT NULL,
  thread   TEXT NOT NULL,
  open     BOOLEAN NOT NULL,                -- something may come of it
  accepted BIGINT NOT NULL,
  sum      BYTEA NOT NULL,                  -- SHA-256 of the document
  doc      BYTEA NOT NULL,
  UNIQUE (project, id)
);
CREATE INDEX prompt_thread ON prompt (project, thread, n);
CREATE INDEX prompt_open ON prompt (project, host, n) WHERE open;

-- +goose Down
DROP TABLE prompt;
