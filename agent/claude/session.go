package claude

import (
	"bytes"
	"cmp"
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

// maxSubagents limits how many files of sub-agents are read per session.
const maxSubagents = 500

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
	all := []transcript.File{{Name: transcript.Main, Path: filepath.Join(project, session+".jsonl")}}
	folder := filepath.Join(project, session, subagents)
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
		all = append(all, transcript.File{Name: subagents + n, Path: filepath.Join(folder, n)})
	}
	return all
}

// layout is where sessions are, one in a folder for each working folder.
func layout(env launch.Env) transcript.Layout {
	root := projects(env)
	return transcript.Layout{
		Agent: Name, Root: root, Valid: launch.IsUUID, Fork: fork,
		Files: func(dir, session string) []transcript.File { return files(root, dir, session) },
		Place: func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) (string, []byte, error) {
			project := cmp.Or(locate(root, spec.Dir, session), slug(spec.Dir))
			if f.File == transcript.Main {
				return filepath.Join(project, session+".jsonl"), f.Data, nil
			}
			base, ok := strings.CutPrefix(f.File, subagents)
			if !ok || !filepath.IsLocal(base) || strings.ContainsAny(base, `/\`) {
				return "", nil, fmt.Errorf("file %q: %w", f.File, thread.ErrInvalid)
			}
			return filepath.Join(project, session, subagents, base), f.Data, nil
		},
	}
}

// ReadTranscript returns what was appended to the session's files.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	return layout(spec.Env).Read(ctx, a.reader, spec, format(true))
}

// Verify compares the session's files with the marks.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	return layout(spec.Env).Verify(spec)
}

// Rebuild writes the session's files: in place if Session is to be restored, or as NewSession in the project folder of
// Dir.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	return layout(spec.Env).Rebuild(spec)
}

// fork rewrites a transcript for a new session in another folder: the lines of the conversation, with the new id. Lines
// that only repeat requests, or refer to the end of the old session, are left out.
func fork(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte {
	return transcript.Edited(f.Data, func(line []byte) []byte {
		var l struct {
			Type string `json:"type"`
			UUID string `json:"uuid"`
		}
		if json.Unmarshal(line, &l) != nil {
			return nil // Claude Code cannot read a damaged line either
		}
		if l.UUID == "" && l.Type != "summary" && l.Type != "file-history-snapshot" && l.Type != "mode" {
			return nil
		}
		for _, key := range []string{`"sessionId":"`, `"sessionId": "`} {
			line = bytes.ReplaceAll(line, []byte(key+spec.Session+`"`), []byte(key+session+`"`))
		}
		return relocate(line, spec.FromDirs, spec.Dir)
	})
}
