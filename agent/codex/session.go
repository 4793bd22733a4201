package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// basePrefix begins the names of the rollouts that a session is based on.
const basePrefix = "base/"

// maxBases limits how many forks a session is followed back.
const maxBases = 16

// locate returns the rollout of a session below root, empty if there is none. Ids contain their creation time, so that
// day is searched first.
func locate(root, session string) string {
	places := []string{"*/*/*"}
	if t, ok := createdAt(session); ok {
		day := func(offset int) string { return t.AddDate(0, 0, offset).Local().Format("2006/01/02") }
		places = []string{day(0), day(-1), day(1), "*/*/*"}
	}
	for _, place := range places {
		found, err := fs.Glob(os.DirFS(root), place+"/rollout-*-"+session+".jsonl")
		if err == nil && len(found) > 0 {
			return filepath.FromSlash(found[len(found)-1]) // the newest
		}
	}
	return ""
}

// createdAt returns the creation time in a version 7 UUID.
func createdAt(session string) (time.Time, bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(session, "-", ""))
	if err != nil || len(raw) != 16 || raw[6]>>4 != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range raw[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), true
}

// files lists a session's native files: its own and those it is based on.
func files(root, session string) []transcript.File {
	var all []transcript.File
	for name := transcript.Main; len(all) <= maxBases; {
		path := locate(root, session)
		if path == "" || slices.ContainsFunc(all, func(f transcript.File) bool { return f.Path == path }) {
			break
		}
		all = append(all, transcript.File{Name: name, Path: path})
		first, _ := firstLine(filepath.Join(root, path))
		if session = first.Payload.Base.Thread; !launch.IsUUID(session) {
			break
		}
		name = basePrefix + session
	}
	return all
}

// layout is where sessions are: a rollout, and those it is based on.
func layout(env launch.Env) transcript.Layout {
	root := sessions(env)
	return transcript.Layout{
		Agent: Name, Root: root, Valid: launch.IsUUID, Fork: fork,
		Files: func(_, session string) []transcript.File { return files(root, session) },
		Place: func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) (string, []byte, error) {
			if f.File != transcript.Main {
				var ok bool
				if session, ok = strings.CutPrefix(f.File, basePrefix); !ok || !launch.IsUUID(session) {
					return "", nil, fmt.Errorf("file %q: %w", f.File, thread.ErrInvalid)
				}
			}
			if path := locate(root, session); path != "" {
				return path, f.Data, nil
			}
			path := rollout(session, f.Data)
			if f.File == transcript.Main {
				f.Data = endTurn(f.Data, spec.Answer)
			}
			return path, f.Data, nil
		},
	}
}

// ReadTranscript returns what was appended to the session's files.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	return layout(spec.Env).Read(ctx, a.reader, spec, format(false))
}

// Verify compares the session's files with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	return layout(spec.Env).Verify(spec)
}

// Rebuild writes the session's rollout, in place or under a new id that replaces every occurrence of the old one, and
// those rollouts it is based on that are missing.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	return layout(spec.Env).Rebuild(spec)
}

// rollout returns the file name of a session as Codex forms it, from the time at which the session was created; Codex
// finds it under no other name. The first line is written later, at the first prompt.
func rollout(session string, data []byte) string {
	var meta opened
	first, _, _ := bytes.Cut(data, []byte("\n"))
	t := time.Now()
	if json.Unmarshal(first, &meta) == nil {
		for _, said := range []time.Time{meta.Timestamp, meta.Payload.Timestamp} {
			if !said.IsZero() {
				t = said
			}
		}
	}
	t = t.Local()
	return filepath.Join(filepath.FromSlash(t.Format("2006/01/02")),
		"rollout-"+t.Format("2006-01-02T15-04-05")+"-"+session+".jsonl")
}

// opened is the first line of a rollout.
type opened struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
		Dir       string    `json:"cwd"`
		Roots     []string  `json:"runtime_workspace_roots"`
		Source    any       `json:"source"` // an object for a sub-agent
		Base      struct {
			Thread string `json:"thread_id"`
		} `json:"history_base"`
	} `json:"payload"`
}

// longestFirst is the size of the longest first line: it has the instructions.
const longestFirst = 4 << 20

// firstLine reads the first line of a rollout.
func firstLine(path string) (o opened, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return o, false
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, longestFirst)).ReadBytes('\n')
	return o, err == nil && json.Unmarshal(line, &o) == nil && o.Type == "session_meta"
}
