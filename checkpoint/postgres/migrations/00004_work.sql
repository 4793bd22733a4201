-- +goose Up
-- Executions: pieces of work that agents do without a terminal. The table "execution" has the processes.
CREATE TABLE work (
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
  project BIGINT NOT NULL REFERENCES project,
  host    TEXT NOT NULL,
  id      TEXT NOT NULL,
  name    TEXT NOT NULL,
  thread  TEXT NOT NULL,
  state   TEXT NOT NULL,
  sum     BYTEA NOT NULL,                   -- of the document
  doc     BYTEA NOT NULL,
  UNIQUE (project, id),
  UNIQUE (project, name)
);
CREATE INDEX work_host ON work (project, host, n);
CREATE INDEX work_thread ON work (project, host, thread, n);
CREATE INDEX work_state ON work (project, host, state, n);
CREATE TABLE work_number (                  -- the last that was given
  project BIGINT PRIMARY KEY REFERENCES project,
  last    BIGINT NOT NULL
);
CREATE TABLE work_event (
  work BIGINT NOT NULL REFERENCES work,
  seq  BIGINT NOT NULL,                     -- from 1, without gaps
  sum  BYTEA NOT NULL,                      -- of the document
  doc  BYTEA NOT NULL,
  PRIMARY KEY (work, seq)
);
-- +goose StatementBegin
CREATE FUNCTION work_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('orchestrator.purging', true) = 'yes' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'events are neither changed nor removed';
END $$;
-- +goose StatementEnd
CREATE TRIGGER work_event_stays BEFORE UPDATE OR DELETE ON work_event
  FOR EACH ROW EXECUTE FUNCTION work_event_stays();
CREATE TRIGGER work_events_stay BEFORE TRUNCATE ON work_event
  FOR EACH STATEMENT EXECUTE FUNCTION work_event_stays();

-- +goose Down
DROP TABLE work_event, work_number, work;
DROP FUNCTION work_event_stays();
