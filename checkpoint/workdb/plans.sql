-- Tasks of plans: what several agents work on, by a plan, and what each has handed over.
--
-- People read the two views at the end (tasks, deliverables). The tables are as those of record.sql: a document (doc) holds
-- the whole of a row as JSON, its checksum (sum) tells damage, columns beside it are what is searched by.

CREATE TABLE plan_document (       -- plans, each once: a task has the one that it began with, for good
  n    INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,       -- SHA-256 of the document, hex: it is checked when it is read
  size INTEGER NOT NULL,           -- of the document
  data BLOB NOT NULL               -- JSON, compressed by zstd
) STRICT;

CREATE TABLE plan_task (           -- tasks: all of a run of a plan
  n        INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
  id       TEXT NOT NULL UNIQUE,   -- a UUID
  name     TEXT NOT NULL UNIQUE,   -- task-001
  status   TEXT NOT NULL,          -- proposed, pending, in_progress, complete, failed, cancelled
  plan     TEXT NOT NULL,          -- the name of its plan; '' for none yet
  document INTEGER REFERENCES plan_document (n), -- NULL before it has begun
  place    INTEGER NOT NULL,       -- among those that wait: smaller ones are taken first
  session  TEXT NOT NULL,          -- the name of its work session; '' for none
  server   TEXT NOT NULL,          -- the server that works on it; '' for none
  author   TEXT NOT NULL,          -- the thread whose agent asked for it; '' for a person
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL,
  ended    INTEGER,
  sum      BLOB NOT NULL,
  doc      BLOB NOT NULL
) STRICT;
CREATE INDEX plan_task_status ON plan_task (status, n);
CREATE INDEX plan_task_plan ON plan_task (plan, status, n);
CREATE INDEX plan_task_waits ON plan_task (plan, place, n) WHERE status = 'pending';
CREATE INDEX plan_task_session ON plan_task (session, n) WHERE session <> '';
CREATE INDEX plan_task_author ON plan_task (author, n) WHERE author <> '';
CREATE INDEX plan_task_ended ON plan_task (ended) WHERE ended IS NOT NULL;
CREATE INDEX plan_task_document ON plan_task (document);

CREATE TABLE plan_node (           -- the agents and gates of tasks
  n      INTEGER PRIMARY KEY,
  task   INTEGER NOT NULL REFERENCES plan_task (n),
  number INTEGER NOT NULL,         -- the place in the plan, from 0
  agent  TEXT NOT NULL,            -- its name in the plan
  gate   INTEGER NOT NULL,         -- 1 for a question to a person
  wave   INTEGER NOT NULL,         -- from 1
  state  TEXT NOT NULL,            -- waiting, asking, working, delivered, failed, skipped, cancelled
  round  INTEGER NOT NULL,         -- how often it has begun
  sum    BLOB NOT NULL,
  doc    BLOB NOT NULL,
  UNIQUE (task, number),
  UNIQUE (task, agent)
) STRICT;
CREATE TRIGGER plan_node_stays BEFORE UPDATE OF task, number, agent, gate, wave ON plan_node
  BEGIN SELECT RAISE(ABORT, 'what an agent of a task is does not change'); END;

CREATE TABLE plan_edge (           -- who waits for whom
  task     INTEGER NOT NULL,
  upstream INTEGER NOT NULL,       -- the number of the node that is waited for
  node     INTEGER NOT NULL,       -- the number of the one that waits
  reads    INTEGER NOT NULL,       -- 1 if it is given what the other hands over; 0 if it only follows
  PRIMARY KEY (task, upstream, node)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER plan_edge_leads_back BEFORE INSERT ON plan_edge
  WHEN NOT EXISTS (SELECT 1 FROM plan_node u JOIN plan_node d ON d.task = u.task
    WHERE u.task = NEW.task AND u.number = NEW.upstream AND d.number = NEW.node
      AND (u.wave < d.wave OR u.wave = d.wave AND u.gate = 1 AND d.gate = 0))
  BEGIN SELECT RAISE(ABORT, 'an agent waits for agents of earlier waves of its task only'); END;
CREATE TRIGGER plan_edge_stays BEFORE UPDATE ON plan_edge
  BEGIN SELECT RAISE(ABORT, 'who waits for whom does not change'); END;

CREATE TABLE plan_event (          -- the history of tasks
  task INTEGER NOT NULL,
  seq  INTEGER NOT NULL,           -- from 1, without gaps
  sum  BLOB NOT NULL,
  doc  BLOB NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER plan_event_stays BEFORE UPDATE ON plan_event
  BEGIN SELECT RAISE(ABORT, 'events are not changed'); END;
CREATE TRIGGER plan_event_is_kept BEFORE DELETE ON plan_event
  WHEN NOT EXISTS (SELECT 1 FROM work_purging)
  BEGIN SELECT RAISE(ABORT, 'events are not removed'); END;

CREATE TABLE plan_handover (       -- what agents have handed over: each version is written once
  n       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
  id      TEXT NOT NULL UNIQUE,    -- a UUID
  task    INTEGER NOT NULL REFERENCES plan_task (n),
  agent   TEXT NOT NULL,
  version INTEGER NOT NULL,        -- from 1
  current INTEGER NOT NULL,        -- 1 for the newest version
  type    TEXT NOT NULL,           -- json, doc, sheet, image, text
  token   TEXT NOT NULL,           -- by which its data is opened; '' before it was staged
  created INTEGER NOT NULL,
  key     BLOB NOT NULL,           -- SHA-256 of all that is handed over: it is checked when it is read
  sum     BLOB NOT NULL,
  doc     BLOB NOT NULL,           -- without the data
  data    BLOB NOT NULL,           -- as the agent gave it
  UNIQUE (task, agent, version)
) STRICT;
CREATE UNIQUE INDEX plan_handover_current ON plan_handover (task, agent) WHERE current = 1;
CREATE TRIGGER plan_handover_stays BEFORE UPDATE OF id, task, agent, version, type, created, key, sum, doc, data ON plan_handover
  BEGIN SELECT RAISE(ABORT, 'what was handed over is not changed'); END;

CREATE TABLE plan_token (          -- by which tokens what is opened
  token    TEXT NOT NULL,
  handover INTEGER NOT NULL REFERENCES plan_handover (n),
  PRIMARY KEY (token, handover)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_token_handover ON plan_token (handover);

CREATE TABLE plan_armed (          -- plans that take pending tasks as they come, or did once
  n        INTEGER PRIMARY KEY,
  name     TEXT NOT NULL UNIQUE,
  active   INTEGER NOT NULL,       -- 1 while it is armed
  document INTEGER NOT NULL REFERENCES plan_document (n),
  sum      BLOB NOT NULL,
  doc      BLOB NOT NULL
) STRICT;
CREATE INDEX plan_armed_document ON plan_armed (document);

CREATE TABLE work_part (           -- the executions of agents of tasks
  work  INTEGER PRIMARY KEY REFERENCES work (n),
  task  TEXT NOT NULL,             -- task-001
  agent TEXT NOT NULL,             -- its name in the plan
  round INTEGER NOT NULL           -- from 1
) STRICT;
CREATE INDEX work_part_task ON work_part (task, agent, round);

-- The views. Times read like CURRENT_TIMESTAMP, in UTC. What stands in a document that is damaged is NULL.

CREATE VIEW tasks AS               -- what plans are at work on, or will be
SELECT
  id,                                           -- a UUID
  coalesce(j ->> '$.title', '') AS title,
  status,                                       -- pending, in_progress, complete; proposed, failed, cancelled
  strftime('%Y-%m-%d %H:%M:%S', created / 1000000, 'unixepoch') AS created_at,
  strftime('%Y-%m-%d %H:%M:%S', updated / 1000000, 'unixepoch') AS updated_at,
  -- more
  name AS task,                                 -- task-001, as verbs take it
  nullif(plan, '') AS plan,
  j ->> '$.plan_hash' AS plan_hash,
  j ->> '$.reason' AS reason,                   -- why it waits, failed or was cancelled
  nullif(session, '') AS session_id,
  strftime('%Y-%m-%d %H:%M:%S', ended / 1000000, 'unixepoch') AS completed_at,
  nullif(author, '') AS recorded_by,            -- the thread whose agent asked for it; NULL for a person
  j ->> '$.host' AS host,
  j ->> '$.user_name' AS user_name
FROM (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM plan_task);

CREATE VIEW deliverables AS        -- what agents of plans have handed over
SELECT
  h.id AS id,                                   -- a UUID
  t.id AS task_id,                              -- that of the task
  h.agent AS agent_name,
  h.type AS output_type,                        -- json, doc, sheet, image, text
  CAST(h.data AS TEXT) AS output_data,          -- as the agent gave it
  strftime('%Y-%m-%d %H:%M:%S', h.created / 1000000, 'unixepoch') AS created_at,
  -- more
  t.name AS task,
  h.version AS version,
  h.current AS current,                         -- 1 for the newest version
  h.j ->> '$.summary' AS output_summary,
  h.j -> '$.files' AS output_files,             -- path, token, sha256 and bytes of each; NULL for none
  h.j ->> '$.execution' AS execution_id,        -- the execution that it came of; NULL for one that a person put
  nullif(h.token, '') AS token,
  length(h.data) AS bytes,
  h.j ->> '$.recorded_by' AS recorded_by        -- the thread of the agent; NULL for a person
FROM (SELECT *, CASE WHEN json_valid(CAST(doc AS TEXT)) THEN CAST(doc AS TEXT) END AS j FROM plan_handover) h
JOIN plan_task t ON t.n = h.task;
