-- The record of work: what executions are for, what they were given, and what came of them.
--
-- People read the four views at the end (sessions, agent_executions, outputs, context_allocations), with
-- `sqlite3 -readonly work.db`, also while the server writes. The tables are the program's: a document (doc) holds the
-- whole of a row as JSON, its checksum (sum, the first 8 bytes of its SHA-256) tells damage. Columns beside a document are what is searched by. Times are in microseconds since 1970, UTC; 0 and 1
-- stand for no and yes.

-- The table of the first version, under the names that both databases have.
ALTER TABLE execution RENAME TO work;
ALTER TABLE event RENAME TO work_event;
ALTER TABLE work_event RENAME COLUMN execution TO work;
DROP INDEX execution_thread;
DROP INDEX execution_state;
DROP TRIGGER event_stays;
DROP TRIGGER event_is_kept;
DROP TABLE purging;

CREATE TABLE work_purging (        -- has a row while executions are being removed, in that transaction only
  one INTEGER PRIMARY KEY
) STRICT;
CREATE TRIGGER work_event_stays BEFORE UPDATE ON work_event
  BEGIN SELECT RAISE(ABORT, 'events are not changed'); END;
CREATE TRIGGER work_event_is_kept BEFORE DELETE ON work_event
  WHEN NOT EXISTS (SELECT 1 FROM work_purging)
  BEGIN SELECT RAISE(ABORT, 'events are not removed'); END;

CREATE TABLE work_number (         -- the last number that was given
  prefix TEXT PRIMARY KEY,         -- of names: exec, term, sub, work, bundle; of rows: output, allocation
  last   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO work_number (prefix, last) SELECT 'exec', last FROM number WHERE last > 0;
DROP TABLE number;

CREATE TABLE work_fact (           -- what executions are searched and summed by: made from their documents, at any time again
  work        INTEGER PRIMARY KEY REFERENCES work (n),
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
  created     INTEGER NOT NULL,
  started     INTEGER,
  ended       INTEGER,
  took        INTEGER NOT NULL,    -- from start to end
  input       INTEGER NOT NULL,    -- tokens, as the provider counted them
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cache_hour  INTEGER NOT NULL,    -- the part of cache_write that is kept for an hour
  output      INTEGER NOT NULL,
  cost        REAL NOT NULL,       -- USD
  priced      INTEGER NOT NULL,    -- whether the cost is known
  unknown     INTEGER NOT NULL,    -- responses whose cost is not known
  context     INTEGER NOT NULL,    -- tokens of context that it was given before it began
  given       INTEGER NOT NULL,    -- the number of the event with all that it was asked; 0 for none
  said        INTEGER NOT NULL     -- that of the event with its whole final message
) STRICT;
CREATE INDEX work_fact_thread ON work_fact (thread);
CREATE INDEX work_fact_state ON work_fact (kind, state);
CREATE INDEX work_fact_type ON work_fact (type);
CREATE INDEX work_fact_session ON work_fact (session) WHERE session <> '';
CREATE INDEX work_fact_bundle ON work_fact (bundle, work, state) WHERE bundle <> ''; -- with all that is compared of bundles
CREATE INDEX work_fact_parent ON work_fact (parent) WHERE parent <> '';
CREATE INDEX work_fact_author ON work_fact (author) WHERE author <> '';

CREATE TABLE work_word (           -- the words that executions are found by
  word TEXT NOT NULL,              -- in lower case
  work INTEGER NOT NULL,
  PRIMARY KEY (word, work)
) STRICT, WITHOUT ROWID;

CREATE TABLE work_written (        -- how much the agents of threads have ever written down by themselves
  author TEXT PRIMARY KEY,         -- the thread's id
  rows   INTEGER NOT NULL,
  bytes  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE work_session (        -- work sessions: what pieces of work are for
  n       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
  name    TEXT NOT NULL UNIQUE,
  status  TEXT NOT NULL,           -- planning, executing, completed, failed, cancelled
  author  TEXT NOT NULL,           -- the thread whose agent made it; '' for a person
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  sum     BLOB NOT NULL,
  doc     BLOB NOT NULL
) STRICT;
CREATE TABLE work_task (           -- the parts of work sessions
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES work_session (n),
  title   TEXT NOT NULL,
  status  TEXT NOT NULL,           -- pending, in_progress, complete, failed, cancelled
  created INTEGER NOT NULL,
  sum     BLOB NOT NULL,
  doc     BLOB NOT NULL,
  UNIQUE (session, title)
) STRICT;

CREATE TABLE work_output (         -- what came of executions
  n          INTEGER PRIMARY KEY,
  work       INTEGER NOT NULL REFERENCES work (n),
  key        BLOB NOT NULL,        -- of type, path and content: the same is not stored twice
  type       TEXT NOT NULL,        -- deliverable, validation_result, insight, error
  path       TEXT NOT NULL,        -- of a deliverable; '' for others
  file       BLOB NOT NULL,        -- a hash of the path
  line       BLOB NOT NULL,        -- a hash of what its versions are counted in: work session or else thread, type, path
  version    INTEGER NOT NULL,     -- from 1; 0 without a path
  current    INTEGER NOT NULL,     -- whether it is the newest version
  session    TEXT NOT NULL,        -- those of its execution
  agent_type TEXT NOT NULL,
  author     TEXT NOT NULL,        -- the thread whose agent recorded it; '' for a person and for us
  created    INTEGER NOT NULL,
  sum        BLOB NOT NULL,
  doc        BLOB NOT NULL,
  UNIQUE (work, key)
) STRICT;
CREATE INDEX work_output_line ON work_output (line, version);
CREATE INDEX work_output_file ON work_output (file, work);
CREATE INDEX work_output_session ON work_output (session) WHERE session <> '';
CREATE INDEX work_output_agent_type ON work_output (agent_type);
CREATE INDEX work_output_type ON work_output (type);
CREATE INDEX work_output_author ON work_output (author) WHERE author <> '';

CREATE TABLE work_allocation (     -- the pieces of context of executions
  n      INTEGER PRIMARY KEY,
  work   INTEGER NOT NULL REFERENCES work (n),
  key    BLOB NOT NULL,            -- of type, source, sections and bundle: the same is not stored twice
  bundle TEXT NOT NULL,            -- the id of the bundle that it is of; '' for none
  sum    BLOB NOT NULL,
  doc    BLOB NOT NULL,
  UNIQUE (work, key)
) STRICT;
CREATE INDEX work_allocation_bundle ON work_allocation (bundle) WHERE bundle <> '';

CREATE TABLE work_bundle (         -- contexts that agents are given
  n          INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  hash       TEXT NOT NULL UNIQUE, -- of everything that an agent gets of it
  session    TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  author     TEXT NOT NULL,
  created    INTEGER NOT NULL,
  sum        BLOB NOT NULL,
  doc        BLOB NOT NULL
) STRICT;
CREATE INDEX work_bundle_session ON work_bundle (session) WHERE session <> '';
CREATE INDEX work_bundle_agent_type ON work_bundle (agent_type);
CREATE TABLE work_piece (          -- the content of bundles, each piece once
  hash TEXT PRIMARY KEY,           -- SHA-256 of the content, hex: it is checked when it is read
  size INTEGER NOT NULL,           -- of the content
  data BLOB NOT NULL               -- compressed by zstd
) STRICT;
CREATE TABLE work_bundle_piece (   -- which bundles have which pieces
  bundle INTEGER NOT NULL REFERENCES work_bundle (n),
  hash   TEXT NOT NULL REFERENCES work_piece (hash),
  PRIMARY KEY (bundle, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_bundle_piece_hash ON work_bundle_piece (hash);

-- The views. Times read like CURRENT_TIMESTAMP, in UTC. What stands in a document that is damaged is NULL.

CREATE VIEW sessions AS            -- work sessions
SELECT
  name AS session_id,
  strftime('%Y-%m-%d %H:%M:%S', created / 1000000, 'unixepoch') AS created_at,
  coalesce(j ->> '$.scope', '') AS scope,
  CAST(j ->> '$.phase' AS INTEGER) AS phase,    -- 1 analyze, 2 plan, 3 execute, 4 validate, 5 confirm; 0 before
  CASE status WHEN 'cancelled' THEN 'failed' ELSE status END AS status, -- planning, executing, completed, failed
  j -> '$.metadata' AS metadata,                -- a JSON object
  -- more
  j ->> '$.policy' AS policy,                   -- manual, suggest, auto: who agrees before money is spent
  CASE WHEN status IN ('completed', 'failed', 'cancelled')
    THEN strftime('%Y-%m-%d %H:%M:%S', updated / 1000000, 'unixepoch') END AS completed_at,
  nullif(author, '') AS recorded_by,            -- the thread whose agent made it; NULL for a person
  j ->> '$.host' AS host,
  j ->> '$.user' AS user_name
FROM (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM work_session);

CREATE VIEW agent_executions AS    -- executions but for those that are queued
SELECT
  w.name AS execution_id,
  nullif(f.session, '') AS session_id,
  f.type AS agent_type,
  strftime('%Y-%m-%d %H:%M:%S', coalesce(f.started, f.created) / 1000000, 'unixepoch') AS deployed_at,
  strftime('%Y-%m-%d %H:%M:%S', f.ended / 1000000, 'unixepoch') AS completed_at,
  CASE WHEN f.state IN ('deployed', 'running', 'needs_input') THEN 'deployed'
    WHEN f.state = 'completed' THEN 'completed' ELSE 'failed' END AS status,
  w.j ->> '$.scope' AS scope,
  f.context AS context_token_count,
  nullif(f.model, '') AS model,
  coalesce((SELECT CASE WHEN json_valid(CAST(e.doc AS TEXT)) THEN CAST(e.doc AS TEXT) ->> '$.text' END
    FROM work_event e WHERE e.work = f.work AND e.seq = f.said), w.j ->> '$.answer') AS final_message,
  CASE WHEN f.state = 'completed' THEN 1 WHEN f.state IN ('failed', 'cancelled', 'lost') THEN 0 END AS success,
  CASE WHEN f.state IN ('failed', 'cancelled', 'lost') THEN coalesce(w.j ->> '$.reason', f.state) END AS error_message,
  -- more
  CASE f.kind WHEN 'hand' THEN 'hand' WHEN 'native' THEN 'native' ELSE 'ours' END AS origin, -- hand: all of it is a claim
  CASE f.kind WHEN '' THEN 'run' ELSE f.kind END AS kind,
  f.state AS state,                             -- one of eight
  f.agent AS agent,
  nullif(f.thread, '') AS thread,
  (SELECT p.name FROM work p WHERE p.id = f.parent) AS parent, -- the execution that started a native one
  nullif(f.task, '') AS task,
  nullif(f.bundle, '') AS bundle_id,            -- the context that it was given
  nullif(f.input, 0) AS tokens_input,           -- NULL for what is not known
  nullif(f.cache_read, 0) AS tokens_cache_read,
  nullif(f.cache_write, 0) AS tokens_cache_write,
  nullif(f.output, 0) AS tokens_output,
  CASE WHEN f.priced = 1 OR f.cost > 0 THEN f.cost END AS cost_usd,
  nullif(f.author, '') AS recorded_by,          -- the thread whose agent asked for it or wrote it down; NULL for a person
  w.j ->> '$.host' AS host,
  w.j ->> '$.user' AS user_name
FROM work_fact f
JOIN (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM work) w ON w.n = f.work
WHERE f.state <> 'queued';

CREATE VIEW outputs AS             -- what came of executions
SELECT
  o.n AS output_id,
  w.name AS execution_id,
  o.type AS output_type,                        -- deliverable, validation_result, insight, error
  o.j ->> '$.content' AS content,               -- JSON, or a text
  strftime('%Y-%m-%d %H:%M:%S', o.created / 1000000, 'unixepoch') AS created_at,
  o.j -> '$.metadata' AS metadata,              -- agent_type, model, related_files
  -- more
  nullif(o.path, '') AS path,
  nullif(o.version, 0) AS version,
  o.current AS current,                         -- 1 for the newest version
  coalesce(o.j ->> '$.metadata.claimed', 0) AS claimed, -- 1 if somebody said so and we did not see it
  nullif(o.session, '') AS session_id,
  o.agent_type AS agent_type,
  nullif(o.author, '') AS recorded_by
FROM (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM work_output) o
JOIN work w ON w.n = o.work;

CREATE VIEW context_allocations AS -- what executions were given
SELECT
  a.n AS allocation_id,
  w.name AS execution_id,
  a.j ->> '$.context_type' AS context_type,     -- file, briefing, reference, shared_context
  a.j ->> '$.context_source' AS context_source,
  a.j ->> '$.token_count' AS token_count,
  coalesce(a.j ->> '$.included_in_deployment', 0) AS included_in_deployment, -- 1 if it was sent to the agent
  -- more
  nullif(a.bundle, '') AS bundle_id,
  a.j ->> '$.priority' AS priority,             -- required, recommended
  a.j -> '$.sections' AS sections,              -- the headings that are included; NULL for all of it
  coalesce(a.j ->> '$.claimed', 0) AS claimed
FROM (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM work_allocation) a
JOIN work w ON w.n = a.work;
