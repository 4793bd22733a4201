package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"orchestrator/agent/demo/record"
	"orchestrator/agent/recorded"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// layout is where sessions are: one file each.
func (a *Agent) layout() transcript.Layout {
	return transcript.Layout{
		Agent: Name, Root: a.config.Home, Valid: record.ValidID,
		Files: func(_, session string) []transcript.File {
			if _, err := os.Lstat(record.Path(a.config.Home, session)); err != nil {
				return nil
			}
			return []transcript.File{{Name: transcript.Main, Path: record.Name(session)}}
		},
		Place: func(_ thread.RebuildSpec, session string, f thread.TranscriptFile) (string, []byte, error) {
			if f.File != transcript.Main {
				return "", nil, fmt.Errorf("file %q: %w", f.File, thread.ErrInvalid)
			}
			return record.Name(session), f.Data, nil
		},
		Fork: func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte {
			return transcript.Edited(f.Data, func(line []byte) []byte {
				if !json.Valid(line) {
					return nil // the agent could not read it either
				}
				return bytes.Replace(line, []byte(`"session":"`+spec.Session+`"`), []byte(`"session":"`+session+`"`), 1)
			})
		},
	}
}

// ReadTranscript returns what was added to the session's file.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	return a.layout().Read(ctx, a.reader, spec, recorded.Format(format))
}

// Verify compares the session's file with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	return a.layout().Verify(spec)
}

// Rebuild writes the session's file: in place, or as NewSession if that is set.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	return a.layout().Rebuild(spec)
}

// reader reads a session's lines.
type reader struct{ out *recorded.Responses }

func format(out *recorded.Responses) recorded.Decoder { return reader{out} }

// Line implements recorded.Decoder.
func (r reader) Line(raw []byte) error {
	var l record.Line
	var m record.Message
	if err := json.Unmarshal(raw, &l); err != nil || l.Type != record.TypeMessage {
		return err
	}
	if err := json.Unmarshal(l.Message, &m); err != nil {
		return err
	}
	if text := m.Text(); m.Role == "user" && text != "" {
		r.out.Turn()
		r.out.Asked(text)
	}
	if m.Role != "assistant" {
		return nil
	}
	r.out.Begin(thread.Exchange{
		Main: true, Model: l.Model, Session: l.Session, Started: l.At, Ended: l.At, Stop: l.Stop,
		EndsTurn: l.Stop != "tool_use" && l.Stop != record.StopInterrupted, Interrupted: l.Stop == record.StopInterrupted,
	})
	for _, b := range m.Content {
		p := recorded.Piece{Kind: recorded.Text, Own: true}
		if b.Type == "tool_use" {
			p.Kind, p.Tool = recorded.Call, b.Name
		}
		r.out.Add(p.Say(b.Text))
	}
	if u := l.Usage; u != nil {
		r.out.Count(thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
	}
	r.out.End()
	return nil
}

// End implements recorded.Decoder.
func (reader) End() {}

// BeginsTurn reports whether a line of a session's main file is the first of a turn.
func (a *Agent) BeginsTurn(line []byte) bool { return recorded.Format(format).Begins(line) }

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	return recorded.Format(format).Usage(chunks), nil
}
