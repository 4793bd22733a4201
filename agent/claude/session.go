package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// mainFile is the name of a session's own file; those of sub-agents are "subagents/agent-….jsonl".
const mainFile = "main"

// maxSubagents limits how many files of sub-agents are read per session.
const maxSubagents = 500

// projects is the folder that contains all sessions.
func projects(env launch.Env) string { return filepath.Join(configDir(env), "projects") }

// slug is the name of the sessions folder of a working folder: everything except letters and digits is replaced by a
// hyphen.
func slug(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, dir)
}

// locate returns the project folder that contains a session, in the order in which Claude Code searches: first the one
// of the working folder, then any other. Empty if there is none.
func locate(root, dir, session string) string {
	holds := func(project string) bool {
		info, err := os.Lstat(filepath.Join(root, project, session+".jsonl"))
		return err == nil && info.Mode().IsRegular()
	}
	if own := slug(dir); holds(own) {
		return own
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.IsDir() && holds(e.Name()) {
			return e.Name()
		}
	}
	return ""
}

// files lists a session's native files.
func files(root, dir, session string) []transcript.File {
	project := locate(root, dir, session)
	if project == "" {
		return nil
	}
	all := []transcript.File{{Name: mainFile, Path: filepath.Join(project, session+".jsonl")}}
	folder := filepath.Join(project, session, "subagents")
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return all // no sub-agents
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), "agent-") && strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	for _, n := range names[:min(len(names), maxSubagents)] {
		all = append(all, transcript.File{Name: "subagents/" + n, Path: filepath.Join(folder, n)})
	}
	return all
}

func checkSession(session string) error {
	if !uuid().MatchString(session) {
		return fmt.Errorf("claude session %q is not a UUID: %w", session, thread.ErrInvalid)
	}
	return nil
}

// ReadTranscript returns what was appended to the session's files.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	if err := checkSession(spec.Session); err != nil {
		return nil, err
	}
	root := projects(spec.Env)
	read := func() ([]thread.Chunk, error) {
		return a.reader.Read(root, files(root, spec.Dir, spec.Session), spec.Marks)
	}
	return transcript.Answer{
		File: mainFile, Text: spec.Answer, Read: format(true).Answer, Begins: a.BeginsTurn, By: spec.By,
	}.Await(ctx, read)
}

// Verify compares the session's files with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	if err := checkSession(spec.Session); err != nil {
		return 0, false, err
	}
	root := projects(spec.Env)
	return transcript.Verify(root, files(root, spec.Dir, spec.Session), spec.Marks)
}

// Rebuild writes the session's files: in place if Session is to be restored, or as NewSession in the project folder of
// Dir.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	if err := checkSession(spec.Session); err != nil {
		return "", err
	}
	root := projects(spec.Env)
	session, project := spec.Session, locate(root, spec.Dir, spec.Session)
	edit := func(data []byte) []byte { return data }
	if spec.NewSession != "" && spec.NewSession != spec.Session {
		session, project = spec.NewSession, ""
		if !uuid().MatchString(session) {
			session = launch.UUID() // Claude Code would not accept the id
		}
		if locate(root, spec.Dir, session) != "" {
			return "", fmt.Errorf("claude session %s already exists: %w", session, thread.ErrConflict)
		}
		edit = func(data []byte) []byte { return fork(data, spec.Session, session, spec.FromDirs, spec.Dir) }
	}
	if project == "" {
		project = slug(spec.Dir)
	}
	wrote := false
	for _, f := range spec.Files {
		name := filepath.Join(project, session+".jsonl")
		if f.File != mainFile {
			base, ok := strings.CutPrefix(f.File, "subagents/")
			if !ok || !filepath.IsLocal(base) || strings.ContainsAny(base, `/\`) {
				return "", fmt.Errorf("rebuild claude session: file %q: %w", f.File, thread.ErrInvalid)
			}
			name = filepath.Join(project, session, "subagents", base)
		}
		if err := transcript.Write(root, name, edit(f.Data), spec.StateDir); err != nil {
			return "", fmt.Errorf("rebuild claude session: %w", err)
		}
		wrote = wrote || f.File == mainFile
	}
	if !wrote {
		return "", fmt.Errorf("rebuild claude session: no main file stored: %w", thread.ErrInvalid)
	}
	return session, nil
}

// fork rewrites a transcript for a new session in another folder: the lines of the conversation, with the new id. Lines
// that only repeat requests, or refer to the end of the old session, are left out.
func fork(data []byte, from, to string, fromDirs []string, dir string) []byte {
	oldID, newID := []byte(`"`+from+`"`), []byte(`"`+to+`"`)
	var out bytes.Buffer
	transcript.Lines(data, func(line []byte) {
		var l struct {
			Type string `json:"type"`
			UUID string `json:"uuid"`
		}
		if json.Unmarshal(line, &l) != nil {
			return // Claude Code cannot read a damaged line either
		}
		if l.UUID == "" && l.Type != "summary" && l.Type != "file-history-snapshot" && l.Type != "mode" {
			return
		}
		for _, key := range []string{`"sessionId":`, `"sessionId": `} {
			line = bytes.ReplaceAll(line, append([]byte(key), oldID...), append([]byte(key), newID...))
		}
		out.Write(relocate(line, fromDirs, dir))
		out.WriteByte('\n')
	})
	return out.Bytes()
}
