package codex

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// opened is the first line of a rollout.
type opened struct {
	Type    string `json:"type"`
	Payload struct {
		ID     string   `json:"id"`
		Dir    string   `json:"cwd"`
		Roots  []string `json:"runtime_workspace_roots"`
		Source any      `json:"source"` // an object for a sub-agent
	} `json:"payload"`
}

// FindSession implements thread.SessionFinder: a session that may write to the thread's own folder is the thread's.
// Without such folders it is the only one that was opened in the thread's folder since its agent was started.
func (a *Agent) FindSession(_ context.Context, spec thread.FindSpec) (string, error) {
	root := sessions(launch.Env(spec.Env))
	real, err := filepath.EvalSymlinks(spec.Dir)
	if err != nil {
		real = spec.Dir
	}
	var there []string
	seen := map[string]bool{}
	for _, at := range []time.Time{time.Now(), spec.Since} {
		day := filepath.Join(root, filepath.FromSlash(at.Local().Format("2006/01/02")))
		if seen[day] {
			continue
		}
		seen[day] = true
		entries, err := os.ReadDir(day)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(spec.Since) || !strings.HasPrefix(e.Name(), "rollout-") {
				continue
			}
			o, ok := firstLine(filepath.Join(day, e.Name()))
			if _, own := o.Payload.Source.(string); !ok || !own || checkSession(o.Payload.ID) != nil {
				continue
			}
			for _, writable := range o.Payload.Roots {
				if rel, err := filepath.Rel(spec.StateDir, writable); err == nil && filepath.IsLocal(rel) {
					return o.Payload.ID, nil
				}
			}
			made, _ := createdAt(o.Payload.ID)
			if len(o.Payload.Roots) < 2 && !made.Before(spec.Since) && (o.Payload.Dir == spec.Dir || o.Payload.Dir == real) {
				there = append(there, o.Payload.ID)
			}
		}
	}
	if len(there) != 1 {
		return "", nil
	}
	return there[0], nil
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
