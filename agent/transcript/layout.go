package transcript

import (
	"bytes"
	"context"
	"fmt"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Main is the name of the file that holds a session's own conversation.
const Main = "main"

// Layout is where an agent keeps its sessions, in files below a folder.
type Layout struct {
	// Agent is the agent's name.
	Agent string
	// Root is the folder.
	Root string
	// Valid reports whether the agent accepts a session id.
	Valid func(session string) bool
	// Files returns the files of a session that works in a folder; none if the session is not there.
	Files func(dir, session string) []File
	// Place returns the path of a stored file below Root, and what is to be written there.
	Place func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) (path string, data []byte, err error)
	// Fork returns a stored file as one of another session in spec.Dir.
	Fork func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte
}

// Format tells what lines are.
type Format interface {
	// Answer returns what the model said in a line.
	Answer(line []byte) string
	// Begins reports whether a turn begins with a line.
	Begins(line []byte) bool
}

func (l Layout) check(session string) error {
	if !l.Valid(session) {
		return fmt.Errorf("%s session %.100q: %w", l.Agent, session, thread.ErrInvalid)
	}
	return nil
}

// Read returns what was appended to a session's files, with the answer if it comes in time.
func (l Layout) Read(ctx context.Context, r *Reader, spec thread.TranscriptSpec, f Format) ([]thread.Chunk, error) {
	if err := l.check(spec.Session); err != nil {
		return nil, err
	}
	answer := Answer{File: Main, Text: spec.Answer, Read: f.Answer, Begins: f.Begins, Known: MarkOf(spec.Marks, Main).Lines, By: spec.By}
	return answer.Await(ctx, func() ([]thread.Chunk, error) {
		return r.Read(l.Root, l.Files(spec.Dir, spec.Session), spec.Marks)
	})
}

// Verify compares a session's files with the marks.
func (l Layout) Verify(spec thread.TranscriptSpec) (int64, bool, error) {
	if err := l.check(spec.Session); err != nil {
		return 0, false, err
	}
	return Verify(l.Root, l.Files(spec.Dir, spec.Session), spec.Marks)
}

// Rebuild writes a session's files: in place, or as those of NewSession, or of another one if the agent would not accept
// that id.
func (l Layout) Rebuild(spec thread.RebuildSpec) (session string, err error) {
	if err := l.check(spec.Session); err != nil {
		return "", err
	}
	session = spec.Session
	fork := spec.NewSession != "" && spec.NewSession != session
	if fork {
		if session = spec.NewSession; !l.Valid(session) {
			session = launch.UUID()
		}
		if len(l.Files(spec.Dir, session)) > 0 {
			return "", fmt.Errorf("%s session %s already exists: %w", l.Agent, session, thread.ErrConflict)
		}
	}
	wrote := false
	for _, f := range spec.Files {
		if fork {
			f.Data = l.Fork(spec, session, f)
		}
		path, data, err := l.Place(spec, session, f)
		if err == nil {
			err = Write(l.Root, path, data, spec.StateDir)
		}
		if err != nil {
			return "", fmt.Errorf("rebuild %s session: %w", l.Agent, err)
		}
		wrote = wrote || f.File == Main
	}
	if !wrote {
		return "", thread.Kindf(thread.ErrInvalid, "rebuild %s session: no main file stored", l.Agent)
	}
	return session, nil
}

// Edited returns lines as edit returns each of them; those for which that is nil are left out.
func Edited(data []byte, edit func(line []byte) []byte) []byte {
	var out bytes.Buffer
	Lines(data, func(line []byte) {
		if line = edit(line); line != nil {
			out.Write(line)
			out.WriteByte('\n')
		}
	})
	return out.Bytes()
}
