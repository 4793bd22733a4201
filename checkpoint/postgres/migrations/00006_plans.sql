-- +goose Up
-- Tasks of plans: what several agents work on, by a plan, and what each has handed over.
--
-- People read the two views at the end (tasks, deliverables). The tables are as those of the record: a document (doc) holds
-- the whole of a row as JSON, its checksum (sum) tells damage, columns beside it are what is searched by. Names are unique in
-- a project; each host sees its own tasks, plans are the project's.

CREATE TABLE plan_document (       -- plans, each once: a task has the one that it began with, for good
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project BIGINT NOT NULL REFERENCES project,
  hash    TEXT NOT NULL,           -- SHA-256 of the document, hex: it is checked when it is read
  size    BIGINT NOT NULL,         -- of the document
  data    BYTEA NOT NULL,          -- JSON, compressed by zstd
  UNIQUE (project, hash)
);
ALTER TABLE plan_document ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE plan_task (           -- tasks: all of a run of a plan
  n        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
  project  BIGINT NOT NULL REFERENCES project,
  host     TEXT NOT NULL,
  id       TEXT NOT NULL,          -- a UUID
  name     TEXT NOT NULL,          -- task-001
  status   TEXT NOT NULL,          -- proposed, pending, in_progress, complete, failed, cancelled
  plan     TEXT NOT NULL,          -- the name of its plan; '' for none yet
  document BIGINT REFERENCES plan_document, -- NULL before it has begun
  place    BIGINT NOT NULL,        -- among those that wait: smaller ones are taken first
  session  TEXT NOT NULL,          -- the name of its work session; '' for none
  server   TEXT NOT NULL,          -- the server that works on it; '' for none
  author   TEXT NOT NULL,          -- the thread whose agent asked for it; '' for a person
  created  BIGINT NOT NULL,
  updated  BIGINT NOT NULL,
  ended    BIGINT,
  sum      BYTEA NOT NULL,
  doc      BYTEA NOT NULL,
  UNIQUE (project, id),
  UNIQUE (project, name)
);
CREATE INDEX plan_task_host ON plan_task (project, host, n);
CREATE INDEX plan_task_status ON plan_task (project, host, status, n);
CREATE INDEX plan_task_plan ON plan_task (project, host, plan, status, n);
CREATE INDEX plan_task_waits ON plan_task (project, host, plan, place, n) WHERE status = 'pending';
CREATE INDEX plan_task_session ON plan_task (project, host, session, n) WHERE session <> '';
CREATE INDEX plan_task_author ON plan_task (project, host, author, n) WHERE author <> '';
CREATE INDEX plan_task_ended ON plan_task (project, host, ended) WHERE ended IS NOT NULL;
CREATE INDEX plan_task_document ON plan_task (document);

CREATE TABLE plan_node (           -- the agents and gates of tasks
  n      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task   BIGINT NOT NULL REFERENCES plan_task,
  number BIGINT NOT NULL,          -- the place in the plan, from 0
  agent  TEXT NOT NULL,            -- its name in the plan
  gate   BIGINT NOT NULL,          -- 1 for a question to a person
  wave   BIGINT NOT NULL,          -- from 1
  state  TEXT NOT NULL,            -- waiting, asking, working, delivered, failed, skipped, cancelled
  round  BIGINT NOT NULL,          -- how often it has begun
  sum    BYTEA NOT NULL,
  doc    BYTEA NOT NULL,
  UNIQUE (task, number),
  UNIQUE (task, agent)
);
-- +goose StatementBegin
CREATE FUNCTION plan_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % has does not change', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
CREATE TRIGGER plan_node_stays BEFORE UPDATE OF task, number, agent, gate, wave ON plan_node
  FOR EACH ROW EXECUTE FUNCTION plan_stays();

CREATE TABLE plan_edge (           -- who waits for whom
  task     BIGINT NOT NULL,
  upstream BIGINT NOT NULL,        -- the number of the node that is waited for
  node     BIGINT NOT NULL,        -- the number of the one that waits
  reads    BIGINT NOT NULL,        -- 1 if it is given what the other hands over; 0 if it only follows
  PRIMARY KEY (task, upstream, node)
);
-- +goose StatementBegin
CREATE FUNCTION plan_edge_leads_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added e
    LEFT JOIN orchestrator.plan_node u ON u.task = e.task AND u.number = e.upstream
    LEFT JOIN orchestrator.plan_node d ON d.task = e.task AND d.number = e.node
    WHERE (u.wave < d.wave OR u.wave = d.wave AND u.gate = 1 AND d.gate = 0) IS NOT TRUE) THEN
    RAISE EXCEPTION 'an agent waits for agents of earlier waves of its task only';
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER plan_edge_leads_back AFTER INSERT ON plan_edge REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION plan_edge_leads_back();
CREATE TRIGGER plan_edge_stays BEFORE UPDATE ON plan_edge
  FOR EACH ROW EXECUTE FUNCTION plan_stays();

CREATE TABLE plan_event (          -- the history of tasks
  task BIGINT NOT NULL REFERENCES plan_task,
  seq  BIGINT NOT NULL,            -- from 1, without gaps
  sum  BYTEA NOT NULL,
  doc  BYTEA NOT NULL,
  PRIMARY KEY (task, seq)
);
CREATE TRIGGER plan_event_stays BEFORE UPDATE OR DELETE ON plan_event
  FOR EACH ROW EXECUTE FUNCTION work_event_stays();
CREATE TRIGGER plan_events_stay BEFORE TRUNCATE ON plan_event
  FOR EACH STATEMENT EXECUTE FUNCTION work_event_stays();

CREATE TABLE plan_handover (       -- what agents have handed over: each version is written once
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  id      TEXT NOT NULL,           -- a UUID
  task    BIGINT NOT NULL REFERENCES plan_task,
  agent   TEXT NOT NULL,
  version BIGINT NOT NULL,         -- from 1
  current BIGINT NOT NULL,         -- 1 for the newest version
  type    TEXT NOT NULL,           -- json, doc, sheet, image, text
  token   TEXT NOT NULL,           -- by which its data is opened; '' before it was staged
  created BIGINT NOT NULL,
  key     BYTEA NOT NULL,          -- SHA-256 of all that is handed over: it is checked when it is read
  sum     BYTEA NOT NULL,
  doc     BYTEA NOT NULL,          -- without the data
  data    BYTEA NOT NULL,          -- as the agent gave it
  UNIQUE (project, id),
  UNIQUE (task, agent, version)
);
CREATE INDEX plan_handover_host ON plan_handover (project, host, n);
CREATE UNIQUE INDEX plan_handover_current ON plan_handover (task, agent) WHERE current = 1;
CREATE TRIGGER plan_handover_stays BEFORE UPDATE OF id, task, agent, version, type, created, key, sum, doc, data ON plan_handover
  FOR EACH ROW EXECUTE FUNCTION plan_stays();

CREATE TABLE plan_token (          -- by which tokens what is opened
  project  BIGINT NOT NULL REFERENCES project,
  host     TEXT NOT NULL,
  token    TEXT NOT NULL,
  handover BIGINT NOT NULL REFERENCES plan_handover,
  PRIMARY KEY (project, host, token, handover)
);
CREATE INDEX plan_token_handover ON plan_token (handover);

CREATE TABLE plan_armed (          -- plans that take pending tasks as they come, or did once
  n        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project  BIGINT NOT NULL REFERENCES project,
  host     TEXT NOT NULL,
  name     TEXT NOT NULL,
  active   BIGINT NOT NULL,        -- 1 while it is armed
  document BIGINT NOT NULL REFERENCES plan_document,
  sum      BYTEA NOT NULL,
  doc      BYTEA NOT NULL,
  UNIQUE (project, host, name)
);
CREATE INDEX plan_armed_document ON plan_armed (document);

CREATE TABLE work_part (           -- the executions of agents of tasks
  work    BIGINT PRIMARY KEY REFERENCES work,
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  task    TEXT NOT NULL,           -- task-001
  agent   TEXT NOT NULL,           -- its name in the plan
  round   BIGINT NOT NULL          -- from 1
);
CREATE INDEX work_part_task ON work_part (project, host, task, agent, round);

-- +goose StatementBegin
CREATE FUNCTION plan_data(data BYTEA) RETURNS JSONB LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  text_of TEXT;
BEGIN
  BEGIN
    text_of := convert_from(data, 'UTF8');
  EXCEPTION WHEN OTHERS THEN
    RETURN NULL;                   -- no text
  END;
  RETURN text_of::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN to_jsonb(text_of);        -- no JSON, or none that a database keeps
END $$;
CREATE FUNCTION plan_text(data BYTEA) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(data, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- The views: SELECT ... FROM orchestrator.tasks. What stands in a document that is damaged is NULL.

CREATE VIEW tasks AS               -- what plans are at work on, or will be
SELECT
  t.id::uuid AS id,
  coalesce(t.j ->> 'title', '') AS title,
  t.status AS status,                           -- pending, in_progress, complete; proposed, failed, cancelled
  to_timestamp(t.created / 1e6) AS created_at,
  to_timestamp(t.updated / 1e6) AS updated_at,
  -- more
  t.name AS task,                               -- task-001, as verbs take it
  nullif(t.plan, '') AS plan,
  t.j ->> 'plan_hash' AS plan_hash,
  t.j ->> 'reason' AS reason,                   -- why it waits, failed or was cancelled
  nullif(t.session, '') AS session_id,
  to_timestamp(t.ended / 1e6) AS completed_at,
  nullif(t.author, '') AS recorded_by,          -- the thread whose agent asked for it; NULL for a person
  t.host AS host,
  t.j ->> 'user_name' AS user_name,
  p.name AS project
FROM (SELECT *, work_json(doc) AS j FROM plan_task) t
JOIN project p ON p.n = t.project;

CREATE VIEW deliverables AS        -- what agents of plans have handed over
SELECT
  h.id::uuid AS id,
  t.id::uuid AS task_id,                        -- that of the task
  h.agent AS agent_name,
  h.type AS output_type,                        -- json, doc, sheet, image, text
  plan_data(h.data) AS output_data,             -- what is no JSON is a string
  to_timestamp(h.created / 1e6) AS created_at,
  -- more
  t.name AS task,
  h.version AS version,
  h.current = 1 AS current,                     -- true for the newest version
  h.j ->> 'summary' AS output_summary,
  h.j -> 'files' AS output_files,               -- path, token, sha256 and bytes of each; NULL for none
  h.j ->> 'execution' AS execution_id,          -- the execution that it came of; NULL for one that a person put
  nullif(h.token, '') AS token,
  length(h.data) AS bytes,
  h.j ->> 'recorded_by' AS recorded_by,         -- the thread of the agent; NULL for a person
  plan_text(h.data) AS output_text,             -- the data as the agent gave it: JSON in a database is another text
  h.host AS host,
  p.name AS project
FROM (SELECT *, work_json(doc) AS j FROM plan_handover) h
JOIN plan_task t ON t.n = h.task
JOIN project p ON p.n = h.project;

-- +goose Down
DROP VIEW deliverables, tasks;
DROP FUNCTION plan_data(BYTEA), plan_text(BYTEA);
DROP TABLE work_part, plan_armed, plan_token, plan_handover, plan_event, plan_edge, plan_node, plan_task, plan_document;
DROP FUNCTION plan_edge_leads_back(), plan_stays();
DELETE FROM work_number WHERE prefix = 'task';
