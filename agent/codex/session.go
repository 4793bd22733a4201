package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// basePrefix is the prefix of their names.
const basePrefix = "base/"

// maxBases limits how many forks a session is followed back.
const maxBases = 16

// sessions is the folder that contains the rollouts, by day.
func sessions(env launch.Env) string { return filepath.Join(home(env), "sessions") }

func checkSession(session string) error {
	if !uuid().MatchString(session) {
		return fmt.Errorf("codex session %q is not a UUID: %w", session, thread.ErrInvalid)
	}
	return nil
}

// locate returns the rollout of a session below root, empty if there is none. Ids contain their creation time, so that
// day is searched first.
func locate(root, session string) string {
	if t, ok := createdAt(session); ok {
		for _, offset := range []int{0, -1, 1} {
			day := t.AddDate(0, 0, offset).Local().Format("2006/01/02")
			if path := inDay(root, filepath.FromSlash(day), session); path != "" {
				return path
			}
		}
	}
	for _, year := range folders(root, "") {
		for _, month := range folders(root, year) {
			for _, day := range folders(root, month) {
				if path := inDay(root, day, session); path != "" {
					return path
				}
			}
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

// folders lists the subfolders of a folder below root, newest first.
func folders(root, in string) []string {
	entries, err := os.ReadDir(filepath.Join(root, in))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range slices.Backward(entries) {
		if e.IsDir() {
			all = append(all, filepath.Join(in, e.Name()))
		}
	}
	return all
}

func inDay(root, day, session string) string {
	entries, err := os.ReadDir(filepath.Join(root, day))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), "-"+session+".jsonl") {
			return filepath.Join(day, e.Name())
		}
	}
	return ""
}

// base returns the session that a rollout is based on, empty for most.
func base(root, path string) string {
	info, err := os.Lstat(filepath.Join(root, path))
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(filepath.Join(root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	first, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return ""
	}
	return baseOf(first)
}

func baseOf(first []byte) string {
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Base *struct {
				Thread string `json:"thread_id"`
			} `json:"history_base"`
		} `json:"payload"`
	}
	if json.Unmarshal(first, &l) != nil || l.Type != "session_meta" || l.Payload.Base == nil ||
		!uuid().MatchString(l.Payload.Base.Thread) {
		return ""
	}
	return l.Payload.Base.Thread
}

// files lists a session's native files: its own and those it is based on.
func files(root, session string) []transcript.File {
	var all []transcript.File
	for name := mainFile; len(all) <= maxBases; {
		path := locate(root, session)
		if path == "" || slices.ContainsFunc(all, func(f transcript.File) bool { return f.Path == path }) {
			break
		}
		all = append(all, transcript.File{Name: name, Path: path})
		session = base(root, path)
		if session == "" {
			break
		}
		name = basePrefix + session
	}
	return all
}

// ReadTranscript returns what was appended to the session's files.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	if err := checkSession(spec.Session); err != nil {
		return nil, err
	}
	root := sessions(spec.Env)
	read := func() ([]thread.Chunk, error) {
		return a.reader.Read(root, files(root, spec.Session), spec.Marks)
	}
	return transcript.Answer{
		File: mainFile, Text: spec.Answer, Read: format(false).Answer, Begins: a.BeginsTurn, By: spec.By,
	}.Await(ctx, read)
}

// Verify compares the session's files with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	if err := checkSession(spec.Session); err != nil {
		return 0, false, err
	}
	root := sessions(spec.Env)
	return transcript.Verify(root, files(root, spec.Session), spec.Marks)
}

// Rebuild writes the session's rollout, in place or under a new id that replaces every occurrence of the old one, and
// those rollouts it is based on that are missing.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	if err := checkSession(spec.Session); err != nil {
		return "", err
	}
	root := sessions(spec.Env)
	session := spec.Session
	edit := func(data []byte) []byte { return data }
	if spec.NewSession != "" && spec.NewSession != spec.Session {
		session = spec.NewSession
		if !uuid().MatchString(session) {
			session = launch.UUID() // Codex would not accept the id
		}
		if locate(root, session) != "" {
			return "", fmt.Errorf("codex session %s already exists: %w", session, thread.ErrConflict)
		}
		edit = func(data []byte) []byte { return fork(data, spec.Session, session, spec.FromDirs, spec.Dir) }
	}
	wrote := false
	for _, f := range spec.Files {
		id, data := session, f.Data
		if f.File == mainFile {
			data, wrote = edit(data), true
		} else {
			var ok bool
			if id, ok = strings.CutPrefix(f.File, basePrefix); !ok || !uuid().MatchString(id) {
				return "", fmt.Errorf("rebuild codex session: file %q: %w", f.File, thread.ErrInvalid)
			}
		}
		path := locate(root, id)
		if path == "" {
			path = rollout(id, data)
			if f.File == mainFile {
				data = endTurn(data, spec.Answer)
			}
		}
		if err := transcript.Write(root, path, data, spec.StateDir); err != nil {
			return "", fmt.Errorf("rebuild codex session: %w", err)
		}
	}
	if !wrote {
		return "", fmt.Errorf("rebuild codex session: no main file stored: %w", thread.ErrInvalid)
	}
	return session, nil
}

// rollout returns the file name of a session as Codex forms it, from the time at which the session was created; Codex
// finds it under no other name. The first line is written later, at the first prompt.
func rollout(session string, data []byte) string {
	var meta struct {
		Timestamp time.Time `json:"timestamp"`
		Payload   struct {
			Timestamp time.Time `json:"timestamp"`
		} `json:"payload"`
	}
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
