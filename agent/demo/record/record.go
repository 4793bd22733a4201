// Package record is the demo agent's native transcript: one file of JSON lines for each session, which the agent
// appends to and the adapter reads.
//
// Each line is written by one call and synced; after a crash the last one may be incomplete and is left out. The folder
// belongs to the demo agent alone.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// The types of lines.
const (
	TypeSession = "session" // the first: where and when
	TypeMessage = "message"
)

// StopInterrupted is the Stop of an answer that the person interrupted: it has what was said until then.
const StopInterrupted = "interrupted"

// Line is one line of a transcript.
type Line struct {
	Type    string    `json:"type"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Dir     string    `json:"dir,omitempty"`
	// Message is the message as it is sent to the model.
	Message json.RawMessage `json:"message,omitempty"`
	Model   string          `json:"model,omitempty"`
	Stop    string          `json:"stop,omitempty"`
	Usage   *Usage          `json:"usage,omitempty"`
}

// Usage contains the provider's counts.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// Message is the content of a line's message.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is one block of a message.
type Block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Use     string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
}

// Text joins the texts of a message.
func (m Message) Text() string {
	var b bytes.Buffer
	for _, c := range m.Content {
		if c.Type == "text" {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

var id = pattern.Lazy(`^[0-9a-zA-Z][0-9a-zA-Z-]{0,63}$`)

// ValidID reports whether a session id may be used.
func ValidID(session string) bool { return id().MatchString(session) }

// Path returns a session's file below the demo agent's folder.
func Path(home, session string) string { return filepath.Join(home, Name(session)) }

// Name returns a session's file, relative to the folder.
func Name(session string) string { return filepath.Join("sessions", session+".jsonl") }

// File is a session that is being written. It is used by one goroutine.
type File struct {
	f       *os.File
	session string
}

// Create begins a session. It returns fs.ErrExist if there is such a session.
func Create(home, session, dir string) (*File, error) {
	f, err := open(home, session, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	if err := f.Append(Line{Type: TypeSession, Dir: dir}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Resume opens a session to continue it, and returns its lines. It returns fs.ErrNotExist if there is no such session.
func Resume(home, session string) (*File, []Line, error) {
	f, err := open(home, session, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("resume session: %w", err)
	}
	data, err := io.ReadAll(f.f)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("resume session: %w", err), f.Close())
	}
	if whole := int64(bytes.LastIndexByte(data, '\n') + 1); whole < int64(len(data)) {
		if err := f.f.Truncate(whole); err != nil { // a line that a crash cut off
			return nil, nil, errors.Join(fmt.Errorf("resume session: %w", err), f.Close())
		}
	}
	return f, Lines(data), nil
}

func open(home, session string, flag int) (*File, error) {
	if !ValidID(session) {
		return nil, fmt.Errorf("session id %q: %w", session, thread.ErrInvalid)
	}
	path := Path(home, session)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{f: f, session: session}, nil
}

// Append writes a line and syncs it.
func (f *File) Append(l Line) error {
	l.Session, l.At = f.session, time.Now().UTC()
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if _, err := f.f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if err := f.f.Sync(); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Lines reads whole lines; damaged ones are left out.
func Lines(data []byte) []Line {
	var all []Line
	for raw := range bytes.Lines(data) {
		var l Line
		if bytes.HasSuffix(raw, []byte("\n")) && json.Unmarshal(raw, &l) == nil && l.Type != "" {
			all = append(all, l)
		}
	}
	return all
}
