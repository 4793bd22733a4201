package opencode

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

func checkSession(session string) error {
	if !sessionID().MatchString(session) {
		return fmt.Errorf("opencode session %.100q: %w", session, thread.ErrInvalid)
	}
	return nil
}

// ReadTranscript returns what was appended to the session.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	if err := checkSession(spec.Session); err != nil {
		return nil, err
	}
	read := func() ([]thread.Chunk, error) {
		// The database is read completely even if waiting for the answer has timed out.
		s, err := load(context.WithoutCancel(ctx), spec.Env, spec.Session)
		if err != nil {
			return nil, fmt.Errorf("read opencode session: %w", err)
		}
		var chunks []thread.Chunk
		if c, ok := transcript.Appended(sessionFile, s.session, spec.Marks); ok {
			chunks = append(chunks, c)
		}
		if c, ok := transcript.Appended(mainFile, s.main, spec.Marks); ok {
			chunks = append(chunks, c)
		}
		return chunks, nil
	}
	return transcript.Answer{
		File: mainFile, Text: spec.Answer, Read: format(true).Answer, Begins: a.BeginsTurn,
		Known: transcript.MarkOf(spec.Marks, mainFile).Lines, By: spec.By,
	}.Await(ctx, read)
}

// directory is the working folder that a session's data names, in which opencode runs it wherever it is started.
func directory(session []byte) string {
	var s struct {
		Directory string `json:"directory"`
	}
	if json.Unmarshal(session, &s) != nil {
		return ""
	}
	return s.Directory
}

// worksIn reports whether opencode would run a session in a folder.
func worksIn(session []byte, dir string) bool {
	at := directory(session)
	if at == dir {
		return true
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && at == real
}

// Verify compares the session with the marks. The data of the session itself may have changed: only the conversation
// counts, and that the session works in today's folder.
func (a *Agent) Verify(ctx context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	if err := checkSession(spec.Session); err != nil {
		return 0, false, err
	}
	s, err := load(ctx, spec.Env, spec.Session)
	if err != nil {
		return 0, false, fmt.Errorf("verify opencode session: %w", err)
	}
	if s.session != nil && !worksIn(s.session, spec.Dir) {
		return 0, false, fmt.Errorf("verify opencode session: %w: %s", thread.ErrElsewhere, directory(s.session))
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
