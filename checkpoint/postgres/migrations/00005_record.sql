-- +goose Up
-- The record of work: what executions are for, what they were given, and what came of them.
--
-- People read the four views at the end, in this schema, with psql. The tables are the program's: a document (doc) holds
-- the whole of a row as JSON, its checksum (sum, the first 8 bytes of its SHA-256) tells damage. Columns beside a document
-- are what is searched by. Times are in microseconds since 1970, UTC; 0 and 1 stand for no and yes. Names are unique in a
-- project; what a host has recorded it sees itself, bundles are the project's.
DROP INDEX work_thread; -- work_fact has them
DROP INDEX work_state;

ALTER TABLE work_number ADD COLUMN prefix TEXT NOT NULL DEFAULT 'exec'; -- of names: exec, term, sub,
-- work, bundle; of rows: output, allocation
ALTER TABLE work_number ALTER COLUMN prefix DROP DEFAULT;
ALTER TABLE work_number DROP CONSTRAINT work_number_pkey, ADD PRIMARY KEY (project, prefix);

CREATE TABLE work_fact (           -- what executions are searched and summed by: made from their documents, at any time again
  work        BIGINT PRIMARY KEY REFERENCES work,
  project     BIGINT NOT NULL REFERENCES project,
  host        TEXT NOT NULL,
  kind        TEXT NOT NULL,       -- '' a run of ours, 'terminal', 'native' (a sub-agent of a CLI), 'hand' (written down)
  thread      TEXT NOT NULL,       -- its id; '' for none
  state       TEXT NOT NULL,       -- queued, deployed, running, needs_input, completed, failed, cancelled, lost
  session     TEXT NOT NULL,       -- the name of its work session; '' for none
  task        TEXT NOT NULL,       -- the title of its task in that
  type        TEXT NOT NULL,       -- the type of agent, or else the agent's name
  agent       TEXT NOT NULL,
  model       TEXT NOT NULL,
  bundle      TEXT NOT NULL,       -- the id of the bundle that it was given
  parent      TEXT NOT NULL,       -- the id of the execution that started a native one
  author      TEXT NOT NULL,       -- the thread whose agent asked for it or wrote it down; '' for a person
  created     BIGINT NOT NULL,
  started     BIGINT,
  ended       BIGINT,
  took        BIGINT NOT NULL,     -- from start to end
  input       BIGINT NOT NULL,     -- tokens, as the provider counted them
  cache_read  BIGINT NOT NULL,
  cache_write BIGINT NOT NULL,
  cache_hour  BIGINT NOT NULL,     -- the part of cache_write that is kept for an hour
  output      BIGINT NOT NULL,
  cost        DOUBLE PRECISION NOT NULL, -- USD
  priced      BIGINT NOT NULL,     -- whether the cost is known
  unknown     BIGINT NOT NULL,     -- responses whose cost is not known
  context     BIGINT NOT NULL,     -- tokens of context that it was given before it began
  given       BIGINT NOT NULL,     -- the number of the event with all that it was asked; 0 for none
  said        BIGINT NOT NULL      -- that of the event with its whole final message
);
CREATE INDEX work_fact_host ON work_fact (project, host, work);
CREATE INDEX work_fact_thread ON work_fact (project, host, thread, work);
CREATE INDEX work_fact_state ON work_fact (project, host, kind, state, work);
CREATE INDEX work_fact_type ON work_fact (project, host, type, work);
CREATE INDEX work_fact_session ON work_fact (project, host, session, work) WHERE session <> '';
CREATE INDEX work_fact_bundle ON work_fact (project, host, bundle, work, state) WHERE bundle <> ''; -- with all that is compared of bundles
CREATE INDEX work_fact_parent ON work_fact (project, host, parent, work) WHERE parent <> '';
CREATE INDEX work_fact_author ON work_fact (project, host, author, work) WHERE author <> '';

CREATE TABLE work_word (           -- the words that executions are found by
  project BIGINT NOT NULL REFERENCES project,
  word    TEXT NOT NULL,           -- in lower case
  work    BIGINT NOT NULL,
  PRIMARY KEY (project, word, work)
);

CREATE TABLE work_written (        -- how much the agents of threads have ever written down by themselves
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  author  TEXT NOT NULL,           -- the thread's id
  rows    BIGINT NOT NULL,
  bytes   BIGINT NOT NULL,
  PRIMARY KEY (project, host, author)
);

CREATE TABLE work_session (        -- work sessions: what pieces of work are for
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  name    TEXT NOT NULL,
  status  TEXT NOT NULL,           -- planning, executing, completed, failed, cancelled
  author  TEXT NOT NULL,           -- the thread whose agent made it; '' for a person
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  sum     BYTEA NOT NULL,
  doc     BYTEA NOT NULL,
  UNIQUE (project, name)
);
CREATE INDEX work_session_host ON work_session (project, host, n);
CREATE TABLE work_task (           -- the parts of work sessions
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session BIGINT NOT NULL REFERENCES work_session,
  title   TEXT NOT NULL,
  status  TEXT NOT NULL,           -- pending, in_progress, complete, failed, cancelled
  created BIGINT NOT NULL,
  sum     BYTEA NOT NULL,
  doc     BYTEA NOT NULL,
  UNIQUE (session, title)
);

CREATE TABLE work_output (         -- what came of executions
  n          BIGINT NOT NULL,
  project    BIGINT NOT NULL REFERENCES project,
  host       TEXT NOT NULL,
  work       BIGINT NOT NULL REFERENCES work,
  key        BYTEA NOT NULL,       -- of type, path and content: the same is not stored twice
  type       TEXT NOT NULL,        -- deliverable, validation_result, insight, error
  path       TEXT NOT NULL,        -- of a deliverable; '' for others
  file       BYTEA NOT NULL,       -- a hash of the path
  line       BYTEA NOT NULL,       -- a hash of what its versions are counted in: work session or else thread, type, path
  version    BIGINT NOT NULL,      -- from 1; 0 without a path
  current    BIGINT NOT NULL,      -- whether it is the newest version
  session    TEXT NOT NULL,        -- those of its execution
  agent_type TEXT NOT NULL,
  author     TEXT NOT NULL,        -- the thread whose agent recorded it; '' for a person and for us
  created    BIGINT NOT NULL,
  sum        BYTEA NOT NULL,
  doc        BYTEA NOT NULL,
  PRIMARY KEY (project, n),
  UNIQUE (work, key)
);
CREATE INDEX work_output_host ON work_output (project, host, n);
CREATE INDEX work_output_line ON work_output (project, host, line, version);
CREATE INDEX work_output_file ON work_output (project, host, file, work);
CREATE INDEX work_output_session ON work_output (project, host, session, n) WHERE session <> '';
CREATE INDEX work_output_agent_type ON work_output (project, host, agent_type, n);
CREATE INDEX work_output_type ON work_output (project, host, type, n);
CREATE INDEX work_output_author ON work_output (project, host, author, n) WHERE author <> '';

CREATE TABLE work_allocation (     -- the pieces of context of executions
  n       BIGINT NOT NULL,
  project BIGINT NOT NULL REFERENCES project,
  work    BIGINT NOT NULL REFERENCES work,
  key     BYTEA NOT NULL,          -- of type, source, sections and bundle: the same is not stored twice
  bundle  TEXT NOT NULL,           -- the id of the bundle that it is of; '' for none
  sum     BYTEA NOT NULL,
  doc     BYTEA NOT NULL,
  PRIMARY KEY (project, n),
  UNIQUE (work, key)
);
CREATE INDEX work_allocation_bundle ON work_allocation (project, bundle) WHERE bundle <> '';

CREATE TABLE work_bundle (         -- contexts that agents are given
  n          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project    BIGINT NOT NULL REFERENCES project,
  id         TEXT NOT NULL,
  hash       TEXT NOT NULL,        -- of everything that an agent gets of it
  session    TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  author     TEXT NOT NULL,
  created    BIGINT NOT NULL,
  sum        BYTEA NOT NULL,
  doc        BYTEA NOT NULL,
  UNIQUE (project, id),
  UNIQUE (project, hash)
);
CREATE INDEX work_bundle_session ON work_bundle (project, session, n) WHERE session <> '';
CREATE INDEX work_bundle_agent_type ON work_bundle (project, agent_type, n);
CREATE TABLE work_piece (          -- the content of bundles, each piece once
  project BIGINT NOT NULL REFERENCES project,
  hash    TEXT NOT NULL,           -- SHA-256 of the content, hex: it is checked when it is read
  size    BIGINT NOT NULL,         -- of the content
  data    BYTEA NOT NULL,          -- compressed by zstd
  PRIMARY KEY (project, hash)
);
ALTER TABLE work_piece ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE work_bundle_piece (   -- which bundles have which pieces
  project BIGINT NOT NULL,
  bundle  BIGINT NOT NULL REFERENCES work_bundle,
  hash    TEXT NOT NULL,
  PRIMARY KEY (bundle, hash),
  FOREIGN KEY (project, hash) REFERENCES work_piece
);
CREATE INDEX work_bundle_piece_hash ON work_bundle_piece (project, hash);

-- +goose StatementBegin
CREATE FUNCTION work_json(doc BYTEA) RETURNS JSONB LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(doc, 'UTF8')::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;                     -- it is damaged
END $$;
-- +goose StatementEnd

-- The views: SELECT ... FROM orchestrator.agent_executions. Whoever shall read them needs
-- GRANT USAGE ON SCHEMA orchestrator and GRANT SELECT on them. What stands in a document that is damaged is NULL.

CREATE VIEW sessions AS            -- work sessions
SELECT
  v.name AS session_id,
  to_timestamp(v.created / 1e6) AS created_at,
  coalesce(v.j ->> 'scope', '') AS scope,
  (v.j ->> 'phase')::integer AS phase,          -- 1 analyze, 2 plan, 3 execute, 4 validate, 5 confirm; 0 before
  CASE v.status WHEN 'cancelled' THEN 'failed' ELSE v.status END AS status, -- planning, executing, completed, failed
  v.j -> 'metadata' AS metadata,                -- a JSON object
  -- more
  v.j ->> 'policy' AS policy,                   -- manual, suggest, auto: who agrees before money is spent
  CASE WHEN v.status IN ('completed', 'failed', 'cancelled') THEN to_timestamp(v.updated / 1e6) END AS completed_at,
  nullif(v.author, '') AS recorded_by,          -- the thread whose agent made it; NULL for a person
  v.host AS host,
  v.j ->> 'user' AS user_name,
  p.name AS project
FROM (SELECT *, work_json(doc) AS j FROM work_session) v
JOIN project p ON p.n = v.project;

CREATE VIEW agent_executions AS    -- executions but for those that are queued
SELECT
  w.name AS execution_id,
  nullif(f.session, '') AS session_id,
  f.type AS agent_type,
  to_timestamp(coalesce(f.started, f.created) / 1e6) AS deployed_at,
  to_timestamp(f.ended / 1e6) AS completed_at,
  CASE WHEN f.state IN ('deployed', 'running', 'needs_input') THEN 'deployed'
    WHEN f.state = 'completed' THEN 'completed' ELSE 'failed' END AS status,
  w.j ->> 'scope' AS scope,
  f.context AS context_token_count,
  nullif(f.model, '') AS model,
  coalesce((SELECT work_json(e.doc) ->> 'text' FROM work_event e WHERE e.work = f.work AND e.seq = f.said), w.j ->> 'answer')
    AS final_message,
  CASE WHEN f.state = 'completed' THEN TRUE WHEN f.state IN ('failed', 'cancelled', 'lost') THEN FALSE END AS success,
  CASE WHEN f.state IN ('failed', 'cancelled', 'lost') THEN coalesce(w.j ->> 'reason', f.state) END AS error_message,
  -- more
  CASE f.kind WHEN 'hand' THEN 'hand' WHEN 'native' THEN 'native' ELSE 'ours' END AS origin, -- hand: all of it is a claim
  CASE f.kind WHEN '' THEN 'run' ELSE f.kind END AS kind,
  f.state AS state,                             -- one of eight
  f.agent AS agent,
  nullif(f.thread, '') AS thread,
  (SELECT q.name FROM work q WHERE q.project = f.project AND q.id = f.parent) AS parent, -- that started a native one
  nullif(f.task, '') AS task,
  nullif(f.bundle, '') AS bundle_id,            -- the context that it was given
  nullif(f.input, 0) AS tokens_input,           -- NULL for what is not known
  nullif(f.cache_read, 0) AS tokens_cache_read,
  nullif(f.cache_write, 0) AS tokens_cache_write,
  nullif(f.output, 0) AS tokens_output,
  CASE WHEN f.priced = 1 OR f.cost > 0 THEN f.cost END AS cost_usd,
  nullif(f.author, '') AS recorded_by,          -- the thread whose agent asked for it or wrote it down; NULL for a person
  f.host AS host,
  w.j ->> 'user' AS user_name,
  p.name AS project
FROM work_fact f
JOIN (SELECT *, work_json(doc) AS j FROM work) w ON w.n = f.work
JOIN project p ON p.n = f.project
WHERE f.state <> 'queued';

CREATE VIEW outputs AS             -- what came of executions
SELECT
  o.n AS output_id,
  w.name AS execution_id,
  o.type AS output_type,                        -- deliverable, validation_result, insight, error
  o.j #>> '{content}' AS content,               -- JSON, or a text
  to_timestamp(o.created / 1e6) AS created_at,
  o.j -> 'metadata' AS metadata,                -- agent_type, model, related_files
  -- more
  nullif(o.path, '') AS path,
  nullif(o.version, 0) AS version,
  o.current = 1 AS current,                     -- true for the newest version
  coalesce((o.j #>> '{metadata,claimed}')::boolean, FALSE) AS claimed, -- true if somebody said so and we did not see it
  nullif(o.session, '') AS session_id,
  o.agent_type AS agent_type,
  nullif(o.author, '') AS recorded_by,
  o.host AS host,
  p.name AS project
FROM (SELECT *, work_json(doc) AS j FROM work_output) o
JOIN work w ON w.n = o.work
JOIN project p ON p.n = o.project;

CREATE VIEW context_allocations AS -- what executions were given
SELECT
  a.n AS allocation_id,
  w.name AS execution_id,
  a.j ->> 'context_type' AS context_type,       -- file, briefing, reference, shared_context
  a.j ->> 'context_source' AS context_source,
  (a.j ->> 'token_count')::bigint AS token_count,
  coalesce((a.j ->> 'included_in_deployment')::boolean, FALSE) AS included_in_deployment, -- true if it was sent to the agent
  -- more
  nullif(a.bundle, '') AS bundle_id,
  a.j ->> 'priority' AS priority,               -- required, recommended
  a.j -> 'sections' AS sections,                -- the headings that are included; NULL for all of it
  coalesce((a.j ->> 'claimed')::boolean, FALSE) AS claimed,
  w.host AS host,
  p.name AS project
FROM (SELECT *, work_json(doc) AS j FROM work_allocation) a
JOIN work w ON w.n = a.work
JOIN project p ON p.n = w.project;

-- +goose Down
DROP VIEW context_allocations, outputs, agent_executions, sessions;
DROP FUNCTION work_json(BYTEA);
DROP TABLE work_bundle_piece, work_piece, work_bundle, work_allocation, work_output, work_task, work_session, work_written, work_word, work_fact;
DELETE FROM work_number WHERE prefix <> 'exec';
ALTER TABLE work_number DROP CONSTRAINT work_number_pkey, DROP COLUMN prefix, ADD PRIMARY KEY (project);
CREATE INDEX work_thread ON work (project, host, thread, n);
CREATE INDEX work_state ON work (project, host, state, n);
