package opencode

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/thread"

	_ "github.com/mattn/go-sqlite3" // opencode's database
)

// The names of the files into which a session is exported.
const (
	mainFile    = "main"
	sessionFile = "session"
)

// database is the path of opencode's database.
func database(env launch.Env) string {
	return filepath.Join(xdg(env, "XDG_DATA_HOME", ".local/share"), "opencode.db")
}

// fields is a JSON object whose values are not decoded.
type fields map[string]json.RawMessage

// stored is a session as files; main is empty if there is none.
type stored struct {
	main, session []byte
}

// open opens a database for reading.
func open(path string) (*sql.DB, error) {
	source := url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_busy_timeout=2000&_query_only=1",
	}
	return sql.Open("sqlite3", source.String())
}

// begin begins to read a database; there is nothing to end if there is none yet.
func begin(ctx context.Context, path string) (tx *sql.Tx, end func(), err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = thread.Kindf(thread.ErrInvalid, "%s is not a regular file", path)
		} else if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return nil, nil, err
	}
	db, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	if tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		db.Close()
		return nil, nil, err
	}
	return tx, func() { tx.Rollback(); db.Close() }, nil
}

// load reads a session from the database.
func load(ctx context.Context, env launch.Env, session string) (stored, error) {
	tx, end, err := begin(ctx, database(env))
	if err != nil || tx == nil {
		return stored{}, err
	}
	defer end()
	var s stored
	if s.session, err = loadSession(ctx, tx, session); err != nil || s.session == nil {
		return stored{}, err
	}
	s.main, err = loadMessages(ctx, tx, session)
	return s, err
}

// loadSession returns the data of the session itself that does not change every turn.
func loadSession(ctx context.Context, tx *sql.Tx, session string) ([]byte, error) {
	var project, slug, dir, title, version string
	var parent, agent, model, permission sql.NullString
	var created int64
	err := tx.QueryRowContext(ctx, `
		SELECT project_id, slug, directory, title, version, parent_id, agent, model, permission, time_created
		FROM session WHERE id = ?`, session).
		Scan(&project, &slug, &dir, &title, &version, &parent, &agent, &model, &permission, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info := map[string]any{
		"id": session, "projectID": project, "slug": slug, "directory": dir, "title": title, "version": version,
		"time": map[string]any{"created": created, "updated": created},
	}
	if parent.Valid {
		info["parentID"] = parent.String
	}
	if agent.Valid {
		info["agent"] = agent.String
	}
	for key, v := range map[string]sql.NullString{"model": model, "permission": permission} {
		if v.Valid && json.Valid([]byte(v.String)) {
			info[key] = json.RawMessage(v.String)
		}
	}
	raw, err := json.Marshal(info)
	return append(raw, '\n'), err
}

// loadMessages returns the messages, one per line, up to the first unfinished one.
func loadMessages(ctx context.Context, tx *sql.Tx, session string) ([]byte, error) {
	parts := map[string][]fields{}
	rows, err := tx.QueryContext(ctx, `SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, message, data string
		if err := rows.Scan(&id, &message, &data); err != nil {
			return nil, err
		}
		f := fields{}
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			return nil, fmt.Errorf("part %s: %w", id, err)
		}
		f["id"], f["messageID"], f["sessionID"] = quote(id), quote(message), quote(session)
		parts[message] = append(parts[message], f)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	messages, err := tx.QueryContext(ctx, `SELECT id, data FROM message WHERE session_id = ? ORDER BY id`, session)
	if err != nil {
		return nil, err
	}
	defer messages.Close()
	var out, pending bytes.Buffer
	for messages.Next() {
		var id, data string
		if err := messages.Scan(&id, &data); err != nil {
			return nil, err
		}
		f := fields{}
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			return nil, fmt.Errorf("message %s: %w", id, err)
		}
		line, done, err := encodeMessage(session, id, f, parts[id])
		if err != nil {
			return nil, err
		}
		// A message that was never finished is held back until another one follows it.
		out.Write(pending.Bytes())
		pending.Reset()
		if !done {
			pending.Write(line)
			continue
		}
		out.Write(line)
	}
	return out.Bytes(), messages.Err()
}

// encodeMessage returns a message's line and reports whether opencode has finished it.
func encodeMessage(session, id string, info fields, parts []fields) (line []byte, done bool, err error) {
	var m struct {
		Role string `json:"role"`
		Time struct {
			Completed int64 `json:"completed"`
		} `json:"time"`
		Error json.RawMessage `json:"error"`
	}
	raw, err := json.Marshal(info)
	if err != nil {
		return nil, false, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, false, err
	}
	done = m.Role != "assistant" || m.Time.Completed != 0 || len(m.Error) > 0
	if m.Role == "user" {
		delete(info, "summary") // recomputed after every turn
		done = len(parts) > 0
	}
	info["id"], info["sessionID"] = quote(id), quote(session)
	if parts == nil {
		parts = []fields{}
	}
	line, err = json.Marshal(map[string]any{"info": info, "parts": parts})
	return append(line, '\n'), done, err
}

// column returns what a query selects.
func column(ctx context.Context, tx *sql.Tx, query string, args ...any) (all []string, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("opencode: " + err.Error()) // strings can always be marshalled
	}
	return raw
}
