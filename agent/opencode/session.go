package opencode

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"

	_ "github.com/mattn/go-sqlite3" // opencode's database
)

// The names of the files that a session is laid out as.
const (
	mainFile    = "main"
	sessionFile = "session"
)

// importTimeout is how long opencode may take to import a session.
const importTimeout = 2 * time.Minute

// database is the path of opencode's database.
func database(env launch.Env) string {
	return filepath.Join(xdg(env, "XDG_DATA_HOME", ".local/share"), "opencode.db")
}

func checkSession(session string) error {
	if !sessionID.MatchString(session) {
		return fmt.Errorf("opencode session %.100q: %w", session, thread.ErrInvalid)
	}
	return nil
}

// fields is a JSON object whose values are left as they are.
type fields map[string]json.RawMessage

// stored is a session as laid out in files; main is empty where there is none.
type stored struct {
	main, session []byte
}

// load reads a session from the database.
func load(ctx context.Context, env launch.Env, session string) (stored, error) {
	path := database(env)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = fmt.Errorf("%s is no regular file: %w", path, thread.ErrInvalid)
		} else if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return stored{}, err
	}
	source := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_busy_timeout=2000&_query_only=1"}
	db, err := sql.Open("sqlite3", source.String())
	if err != nil {
		return stored{}, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return stored{}, err
	}
	defer tx.Rollback()
	var s stored
	if s.session, err = loadSession(ctx, tx, session); err != nil || s.session == nil {
		return stored{}, err
	}
	s.main, err = loadMessages(ctx, tx, session)
	return s, err
}

// loadSession lays out what is known of the session itself and does not change at every turn.
func loadSession(ctx context.Context, tx *sql.Tx, session string) ([]byte, error) {
	var project, slug, dir, title, version string
	var parent, agent, model, permission sql.NullString
	var created int64
	err := tx.QueryRowContext(ctx, `SELECT project_id, slug, directory, title, version, parent_id, agent, model, permission, time_created
		FROM session WHERE id = ?`, session).Scan(&project, &slug, &dir, &title, &version, &parent, &agent, &model, &permission, &created)
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

// loadMessages lays out the messages, one a line, up to the first that is not finished.
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
		line, done, err := layOut(session, id, f, parts[id])
		if err != nil {
			return nil, err
		}
		// One that never finished is held back until something follows it.
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

// layOut makes a message's line and says whether opencode is done with it.
func layOut(session, id string, info fields, parts []fields) (line []byte, done bool, err error) {
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
		delete(info, "summary") // worked out anew after every turn
		done = len(parts) > 0
	}
	info["id"], info["sessionID"] = quote(id), quote(session)
	if parts == nil {
		parts = []fields{}
	}
	line, err = json.Marshal(map[string]any{"info": info, "parts": parts})
	return append(line, '\n'), done, err
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("opencode: " + err.Error()) // strings can always be marshalled
	}
	return raw
}

// ReadTranscript returns what the session gained.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	if err := checkSession(spec.Session); err != nil {
		return nil, err
	}
	read := func() ([]thread.Chunk, error) {
		// The database is read whole even where waiting for the answer has timed out.
		s, err := load(context.WithoutCancel(ctx), spec.Env, spec.Session)
		if err != nil {
			return nil, fmt.Errorf("read opencode session: %w", err)
		}
		var chunks []thread.Chunk
		if c, ok := transcript.Gain(sessionFile, s.session, spec.Marks); ok {
			chunks = append(chunks, c)
		}
		if c, ok := transcript.Gain(mainFile, s.main, spec.Marks); ok {
			chunks = append(chunks, c)
		}
		return chunks, nil
	}
	chunks, err := transcript.Await(ctx, read, func(chunks []thread.Chunk) bool {
		return transcript.Has(chunks, mainFile, spec.Answer, answerText)
	})
	return transcript.Until(chunks, mainFile, spec.Answer, answerText, beginsTurn), err
}

// Verify compares the session with the marks. What is known of the session itself may have changed:
// only the conversation counts.
func (a *Agent) Verify(ctx context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	if err := checkSession(spec.Session); err != nil {
		return 0, false, err
	}
	s, err := load(ctx, spec.Env, spec.Session)
	if err != nil {
		return 0, false, fmt.Errorf("verify opencode session: %w", err)
	}
	var matched int64
	whole := false
	for _, m := range spec.Marks {
		switch {
		case m.File == mainFile && transcript.Matches(s.main, m):
			matched, whole = matched+m.Size, true
		case m.File == sessionFile && transcript.Matches(s.session, m):
			matched += m.Size
		}
	}
	return matched, whole, nil
}

// Rebuild has opencode import the session: what is missing of it under its own id, or all of it
// under a new one with fresh ids inside. It runs opencode's import in Dir.
func (a *Agent) Rebuild(ctx context.Context, spec thread.RebuildSpec) (string, error) {
	if err := checkSession(spec.Session); err != nil {
		return "", err
	}
	var s stored
	for _, f := range spec.Files {
		switch f.File {
		case mainFile:
			s.main = f.Data
		case sessionFile:
			s.session = f.Data
		default:
			return "", fmt.Errorf("rebuild opencode session: file %q: %w", f.File, thread.ErrInvalid)
		}
	}
	if len(s.main) == 0 || len(s.session) == 0 {
		return "", fmt.Errorf("rebuild opencode session: not all of it is stored: %w", thread.ErrInvalid)
	}
	main, err := complete(s.main, spec.FromDir, spec.Answer)
	if err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	id := spec.Session
	if spec.NewSession == "" || spec.NewSession == spec.Session {
		now, err := load(ctx, spec.Env, id)
		switch {
		case err != nil:
			return "", fmt.Errorf("rebuild opencode session: %w", err)
		case bytes.HasPrefix(now.main, s.main):
			return id, nil
		case len(now.main) > len(s.main):
			return "", fmt.Errorf("opencode session %s has other content and more: %w", id, thread.ErrConflict)
		case len(now.main) > 0:
			id = newID() // parts of it are there: they cannot be replaced, so all of it is made anew
		}
	} else {
		id = spec.NewSession
		if !sessionID.MatchString(id) {
			id = newID() // not an id that opencode would take
		}
		if now, err := load(ctx, spec.Env, id); err != nil || len(now.session) > 0 {
			return "", errors.Join(fmt.Errorf("opencode session %s is there already: %w", id, thread.ErrConflict), err)
		}
	}
	s.main = main
	if id != spec.Session {
		s = fresh(s, spec.Session, id)
	}
	if err := a.load(ctx, spec, s); err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	made, err := load(ctx, spec.Env, id)
	if err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	if have, want := bytes.Count(made.main, []byte("\n")), bytes.Count(s.main, []byte("\n")); have < want {
		return "", fmt.Errorf("rebuild opencode session: %d of %d messages were taken: %w", have, want, thread.ErrDamaged)
	}
	return id, nil
}

// newID makes a session id as opencode's are: later ones sort first.
func newID() string {
	ms := uint64(time.Now().UnixMilli()) << 12
	return fmt.Sprintf("ses_%012x%s", ^ms&(1<<48-1), letters(14))
}

// letters returns n random letters and digits.
func letters(n int) string {
	const all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	b := make([]byte, n)
	rand.Read(b)
	for i := range b {
		b[i] = all[int(b[i])%len(all)]
	}
	return string(b)
}

// inner is the form of the ids of messages and parts: the time, which orders them, and a random rest.
var inner = regexp.MustCompile(`"(msg|prt)_([0-9a-f]{12})([0-9A-Za-z]{4,30})"`)

// fresh gives a session and all that is in it new ids, in the same order: opencode leaves out what has
// an id that it knows.
func fresh(s stored, from, to string) stored {
	ids := map[string]string{}
	swap := func(raw []byte) []byte {
		raw = bytes.ReplaceAll(raw, quote(from), quote(to))
		return inner.ReplaceAllFunc(raw, func(old []byte) []byte {
			id, ok := ids[string(old)]
			if !ok {
				m := inner.FindSubmatch(old)
				id = fmt.Sprintf(`"%s_%s%s"`, m[1], m[2], letters(14))
				ids[string(old)] = id
			}
			return []byte(id)
		})
	}
	return stored{main: swap(s.main), session: swap(s.session)}
}

// load has opencode import a session.
func (a *Agent) load(ctx context.Context, spec thread.RebuildSpec, s stored) error {
	info := fields{}
	if err := json.Unmarshal(s.session, &info); err != nil {
		return fmt.Errorf("stored session: %w", err)
	}
	info["directory"] = quote(spec.Dir)
	var messages []json.RawMessage
	transcript.Lines(s.main, func(line []byte) {
		if spec.FromDir != "" && spec.FromDir != spec.Dir {
			line = moved(line, spec.FromDir, spec.Dir)
		}
		messages = append(messages, bytes.Clone(line))
	})
	path, err := launch.WriteFile(spec.StateDir, "opencode-import.json", map[string]any{"info": info, "messages": messages})
	if err != nil {
		return err
	}
	defer os.Remove(path)
	env := launch.Env(spec.Env).Without("OPENCODE_CONFIG_CONTENT")
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, found.Path, append(append([]string{}, found.Args...), "import", path)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = spec.Dir, env, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("opencode import: %w: %.300s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// moved changes where a message says that it was made; the conversation stays as it is.
func moved(line []byte, from, to string) []byte {
	var m struct {
		Info  map[string]any  `json:"info"`
		Parts json.RawMessage `json:"parts"`
	}
	if json.Unmarshal(line, &m) != nil {
		return line
	}
	place, ok := m.Info["path"].(map[string]any)
	if !ok {
		return line
	}
	for key, v := range place {
		if v == from {
			place[key] = to
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return line
	}
	return raw
}
