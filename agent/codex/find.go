package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

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
			if _, own := o.Payload.Source.(string); !ok || !own || !launch.IsUUID(o.Payload.ID) {
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
