package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
	"orchestrator/thread/lines"
)

// Places returns where opencode keeps its sessions: all of them in one database; older versions wrote a file for each
// session, message and part.
func (a *Agent) Places(env []string) []string {
	db := database(launch.Env(env))
	return []string{db, filepath.Join(filepath.Dir(db), "storage", "session", "*", "ses_*.json")}
}

// databaseHead is how a database begins.
const databaseHead = "SQLite format 3\x00"

// Recognises reports whether a file begins as a database does, as a session that `opencode export` wrote, or as what
// older versions wrote of a session.
func (a *Agent) Recognises(beginning []byte) bool {
	if bytes.HasPrefix(beginning, []byte(databaseHead)) {
		return true
	}
	f := lines.Fields(beginning)
	info, exported := f["info"]
	if !exported {
		_, project := f["projectID"]
		return project && sessionID().MatchString(lines.Word(f["id"]))
	}
	return sessionID().MatchString(lines.Word(lines.Fields(info)["id"]))
}

// Pieces reads a database or a session.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	return func(yield func(recorded.Piece, error) bool) {
		head := make([]byte, len(databaseHead))
		_, err := f.ReadAt(head, 0)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
		case string(head) == databaseHead:
			err = databasePieces(ctx, f.Name(), yield)
		default:
			err = objectPieces(ctx, f, yield)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(recorded.Piece{}, err)
		}
	}
}

// errStopped ends the reading when no more pieces are wanted.
var errStopped = errors.New("stopped")

// databasePieces reads all sessions of a database.
func databasePieces(ctx context.Context, path string, yield func(recorded.Piece, error) bool) error {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	tx, end, err := begin(ctx, path)
	if err != nil || tx == nil {
		return fmt.Errorf("open opencode's database: %w", cmp.Or(err, fs.ErrNotExist))
	}
	defer end()
	sessions, err := column(ctx, tx, `SELECT id FROM session ORDER BY time_created, id`)
	if err != nil {
		return fmt.Errorf("list the sessions of opencode: %w", err)
	}
	for _, id := range sessions {
		main, err := loadMessages(ctx, tx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !yield(recorded.Piece{Kind: recorded.Session, Name: id}, nil) {
			return errStopped
		}
		if err != nil {
			if !yield(recorded.Piece{}, &lines.Broken{Line: 1, Err: fmt.Errorf("session %s: %w", id, err)}) {
				return errStopped
			}
			continue
		}
		if err := messagePieces(ctx, bytes.NewReader(main), yield); err != nil {
			return err
		}
	}
	return nil
}

// objectPieces reads an exported session, or what older versions wrote of one.
func objectPieces(ctx context.Context, f *os.File, yield func(recorded.Piece, error) bool) error {
	raw, err := io.ReadAll(io.LimitReader(f, transcript.MaxFile))
	if err != nil {
		return err
	}
	var all struct {
		ID       string            `json:"id"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("read a session of opencode: %w", err)
	}
	if all.ID != "" {
		storage := filepath.Join(filepath.Dir(f.Name()), "..", "..")
		if all.Messages, err = storedMessages(ctx, storage, all.ID); err != nil {
			return fmt.Errorf("read a session of opencode: %w", err)
		}
	}
	var main bytes.Buffer
	for _, m := range all.Messages {
		if err := json.Compact(&main, m); err != nil {
			return fmt.Errorf("read a session of opencode: %w", err)
		}
		main.WriteByte('\n')
	}
	return messagePieces(ctx, &main, yield)
}

// storedMessages reads the messages of a session, which are in a file each, with their parts, likewise.
func storedMessages(ctx context.Context, storage, session string) ([]json.RawMessage, error) {
	if !sessionID().MatchString(session) {
		return nil, fmt.Errorf("session %.100q: %w", session, thread.ErrInvalid)
	}
	infos, err := storedObjects(filepath.Join(storage, "message", session))
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, info := range infos {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		id := lines.Word(lines.Fields(info)["id"])
		if !filepath.IsLocal(id) || filepath.Base(id) != id {
			continue
		}
		parts, err := storedObjects(filepath.Join(storage, "part", id))
		if err != nil {
			return nil, err
		}
		m, err := json.Marshal(map[string]any{"info": info, "parts": parts})
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// storedObjects reads the files of a folder in the order of their names, which are ids that grow. It leaves out what is
// no object, as a file that is being written.
func storedObjects(folder string) ([]json.RawMessage, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		raw, err := root.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		if json.Valid(raw) {
			all = append(all, raw)
		}
	}
	return all, nil
}

// messagePieces gives the pieces of messages, one for each line.
func messagePieces(ctx context.Context, in io.Reader, yield func(recorded.Piece, error) bool) error {
	for p, err := range format(false).Pieces(ctx, in) {
		if !yield(p, err) {
			return errStopped
		}
	}
	return nil
}

// line is a message, with the fields that are read.
type line struct {
	Info struct {
		Role    string `json:"role"`
		Session string `json:"sessionID"`
		Model   string `json:"modelID"`
		Finish  string `json:"finish"`
		Cost    float64
		Error   json.RawMessage `json:"error"`
		Summary json.RawMessage `json:"summary"`
		Time    struct{ Created, Completed int64 }
		Tokens  *tokens `json:"tokens"`
	} `json:"info"`
	Parts []struct {
		Type      string  `json:"type"`
		Text      string  `json:"text"`
		Synthetic bool    `json:"synthetic"`
		Ignored   bool    `json:"ignored"`
		Mime      string  `json:"mime"`
		Tool      string  `json:"tool"`
		Call      string  `json:"callID"`
		Tokens    *tokens `json:"tokens"`
		State     struct {
			Status      string          `json:"status"`
			Input       json.RawMessage `json:"input"`
			Output      string          `json:"output"`
			Error       string          `json:"error"`
			Attachments []struct{}      `json:"attachments"`
		} `json:"state"`
	} `json:"parts"`
}

// tokens are the provider's counts of a response.
type tokens struct {
	Input, Output, Reasoning int64
	Cache                    struct{ Read, Write int64 }
}

func (t *tokens) usage() thread.Usage {
	return thread.Usage{
		Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write, Output: t.Output + t.Reasoning,
	}
}

// format reads messages, one for each line. What the agent summed up is counted only if all is read: its request has
// what it sums up.
func format(all bool) recorded.Format {
	return func(out *recorded.Responses) recorded.Decoder { return &reader{out: out, all: all} }
}

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	return format(true).Usage(chunks), nil
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return format(true).Begins(line) }

// reader reads messages.
type reader struct {
	out *recorded.Responses
	all bool
}

// Line implements recorded.Decoder.
func (r *reader) Line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	switch l.Info.Role {
	case "assistant":
		sums := string(l.Info.Summary) == "true"
		if sums {
			r.out.Add(recorded.Piece{Kind: recorded.Boundary, At: l.at()})
		}
		r.answer(l, sums)
	case "user":
		r.prompt(l)
	}
	return nil
}

// End implements recorded.Decoder.
func (r *reader) End() {}

// check returns an error if counts cannot be true.
func (l line) check() error {
	all := []*tokens{l.Info.Tokens}
	for _, p := range l.Parts {
		all = append(all, p.Tokens)
	}
	for _, t := range all {
		if t != nil {
			if err := recorded.Check(t.usage()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l line) at() time.Time {
	if l.Info.Time.Created == 0 {
		return time.Time{}
	}
	return time.UnixMilli(l.Info.Time.Created)
}

// prompt gives the pieces of what the person said, and of what opencode adds to it.
func (r *reader) prompt(l line) {
	text := ""
	for _, part := range l.Parts {
		p := recorded.Piece{Kind: recorded.Text, Person: !part.Synthetic, At: l.at()}
		if part.Type == "text" && p.Person {
			text += part.Text
		}
		switch {
		case part.Ignored:
		case part.Type == "text":
			r.out.Add(p.Say(part.Text))
		case part.Type == "file" && strings.HasPrefix(part.Mime, "image/"):
			p.Images = 1
			r.out.Add(p)
		}
	}
	r.out.Turn()
	r.out.Asked(text)
}

// answer gives the pieces of a message of the model. Older versions wrote several responses, which are steps, into one
// message.
func (r *reader) answer(l line, sums bool) {
	var results []recorded.Piece
	begin := func() {
		i := l.Info
		e := thread.Exchange{
			Main: !sums, Session: i.Session, Model: i.Model, Stop: i.Finish,
			Started: time.UnixMilli(i.Time.Created), Ended: time.UnixMilli(i.Time.Completed),
			EndsTurn: i.Finish != "" && i.Finish != "tool-calls" && i.Finish != "unknown",
		}
		if sums {
			e.Purpose = "compaction"
		}
		if len(i.Error) > 0 {
			e.Interrupted, e.EndsTurn = true, true
		}
		r.out.Begin(e)
	}
	end := func(t *tokens) {
		if t != nil && (r.all || !sums) {
			u := t.usage()
			u.CostUSD, u.Priced = l.Info.Cost, l.Info.Cost > 0
			r.out.Count(u)
		}
		r.out.End()
		for _, p := range results {
			r.out.Add(p)
		}
		results = nil
	}
	steps := false
	for _, p := range l.Parts {
		steps = steps || !r.all && p.Type == "step-finish" && p.Tokens != nil
	}
	begin()
	for _, part := range l.Parts {
		p := recorded.Piece{Kind: recorded.Text, Own: true, At: l.at()}
		switch part.Type {
		case "text":
			p = p.Say(part.Text)
			if part.Synthetic {
				p.Text = ""
			}
			r.out.Add(p)
		case "reasoning":
			p.Kind = recorded.Thinking
			r.out.Add(p.Say(part.Text))
		case "tool":
			p.Kind, p.Tool, p.ID, p.Input = recorded.Call, part.Tool, part.Call, part.State.Input
			r.out.Add(p.Say(string(p.Input)))
			results = append(results, recorded.Piece{
				Kind: recorded.Result, Tool: part.Tool, ID: part.Call, At: l.at(), Error: part.State.Status == "error",
				Images: len(part.State.Attachments),
			}.Say(part.State.Output+part.State.Error))
		case "step-finish":
			if steps {
				end(part.Tokens)
				begin()
			}
		}
	}
	if steps {
		end(nil)
		return
	}
	end(l.Info.Tokens)
}
