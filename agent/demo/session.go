package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"orchestrator/agent/demo/record"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// mainFile is the name of a session's only file.
const mainFile = "main"

func (a *Agent) files(session string) ([]transcript.File, error) {
	if !record.ValidID(session) {
		return nil, fmt.Errorf("demo session %q: %w", session, thread.ErrInvalid)
	}
	return []transcript.File{{Name: mainFile, Path: record.Name(session)}}, nil
}

// ReadTranscript returns what was added to the session's file.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	files, err := a.files(spec.Session)
	if err != nil {
		return nil, err
	}
	read := func() ([]thread.Chunk, error) { return a.reader.Read(a.config.Home, files, spec.Marks) }
	answer := transcript.Answer{File: mainFile, Text: spec.Answer, Read: answerText, Begins: beginsTurn, By: spec.By}
	return answer.Await(ctx, read)
}

// Verify compares the session's file with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	files, err := a.files(spec.Session)
	if err != nil {
		return 0, false, err
	}
	return transcript.Verify(a.config.Home, files, spec.Marks)
}

// Rebuild writes the session's file: in place, or as NewSession if that is set.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	session := spec.Session
	fork := spec.NewSession != "" && spec.NewSession != spec.Session
	if fork {
		session = spec.NewSession
	}
	for _, id := range []string{spec.Session, session} {
		if _, err := a.files(id); err != nil {
			return "", err
		}
	}
	if fork {
		switch _, err := transcript.ReadAll(a.config.Home, record.Name(session)); {
		case err == nil:
			return "", fmt.Errorf("demo session %s already exists: %w", session, thread.ErrConflict)
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("rebuild demo session: %w", err)
		}
	}
	wrote := false
	for _, f := range spec.Files {
		if f.File != mainFile {
			return "", fmt.Errorf("rebuild demo session: file %q: %w", f.File, thread.ErrInvalid)
		}
		data := f.Data
		if fork {
			data = renamed(data, spec.Session, session)
		}
		if err := transcript.Write(a.config.Home, record.Name(session), data, spec.StateDir); err != nil {
			return "", fmt.Errorf("rebuild demo session: %w", err)
		}
		wrote = true
	}
	if !wrote {
		return "", fmt.Errorf("rebuild demo session: no main file stored: %w", thread.ErrInvalid)
	}
	return session, nil
}

// renamed changes the session in every line.
func renamed(data []byte, from, to string) []byte {
	var out bytes.Buffer
	transcript.Lines(data, func(raw []byte) {
		if !json.Valid(raw) {
			return // the agent could not read it either
		}
		out.Write(bytes.Replace(raw, []byte(`"session":"`+from+`"`), []byte(`"session":"`+to+`"`), 1))
		out.WriteByte('\n')
	})
	return out.Bytes()
}

// message reads a line's message.
func message(raw []byte) (l record.Line, m record.Message, ok bool) {
	if json.Unmarshal(raw, &l) != nil || l.Type != record.TypeMessage || json.Unmarshal(l.Message, &m) != nil {
		return l, m, false
	}
	return l, m, true
}

func answerText(raw []byte) string {
	_, m, ok := message(raw)
	if !ok || m.Role != "assistant" {
		return ""
	}
	return m.Text()
}

// beginsTurn reports whether a line is one of the person's prompts.
func beginsTurn(raw []byte) bool {
	_, m, ok := message(raw)
	return ok && m.Role == "user" && m.Text() != ""
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return beginsTurn(line) }

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var all []thread.Exchange
	for _, c := range chunks {
		prompt := ""
		transcript.Lines(c.Data, func(raw []byte) {
			l, m, ok := message(raw)
			switch {
			case !ok:
			case m.Role == "user":
				if text := m.Text(); text != "" {
					prompt = text
				}
			case l.Usage != nil:
				e := thread.Exchange{
					Main: true, Model: l.Model, Session: l.Session, Started: l.At, Ended: l.At, Status: 200,
					Prompt: prompt, Text: m.Text(), Stop: l.Stop, EndsTurn: l.Stop != "tool_use",
					Usage: thread.Usage{
						Input: l.Usage.Input, CacheRead: l.Usage.CacheRead, CacheWrite: l.Usage.CacheWrite,
						Output: l.Usage.Output,
					},
				}
				for _, b := range m.Content {
					if b.Type == "tool_use" {
						e.Tools = append(e.Tools, b.Name)
					}
				}
				all = append(all, e)
			}
		})
	}
	return all, nil
}
