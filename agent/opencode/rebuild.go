package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// importTimeout is the time limit for opencode to import a session.
const importTimeout = 2 * time.Minute

// Rebuild lets opencode import the session: the missing part under its own id, or all of it under a new id with new ids
// inside. It runs opencode's import in Dir.
func (a *Agent) Rebuild(ctx context.Context, spec thread.RebuildSpec) (string, error) {
	if err := checkSession(spec.Session); err != nil {
		return "", err
	}
	var s stored
	for _, f := range spec.Files {
		switch f.File {
		case mainFile:
			s.main = f.Data
		case sessionFile:
			s.session = f.Data
		default:
			return "", fmt.Errorf("rebuild opencode session: file %q: %w", f.File, thread.ErrInvalid)
		}
	}
	if len(s.main) == 0 || len(s.session) == 0 {
		return "", thread.Kindf(thread.ErrInvalid, "rebuild opencode session: it is stored only in part")
	}
	from := append([]string{directory(s.session)}, spec.FromDirs...)
	main, err := complete(s.main, cmp.Or(from...), spec.Answer)
	if err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	id := spec.Session
	if spec.NewSession == "" || spec.NewSession == spec.Session {
		now, err := load(ctx, spec.Env, id)
		switch {
		case err != nil:
			return "", fmt.Errorf("rebuild opencode session: %w", err)
		case bytes.HasPrefix(now.main, s.main) && worksIn(now.session, spec.Dir):
			return id, nil
		case len(now.main) > len(s.main):
			return "", fmt.Errorf("opencode session %s differs from the stored one and is longer: %w", id, thread.ErrConflict)
		case len(now.main) > 0:
			id = newID() // a part of it exists and cannot be replaced, so all of it is written under a new id
		}
	} else {
		id = spec.NewSession
		if !sessionID().MatchString(id) {
			id = newID() // opencode would not accept the id
		}
		if now, err := load(ctx, spec.Env, id); err != nil || len(now.session) > 0 {
			return "", errors.Join(fmt.Errorf("opencode session %s already exists: %w", id, thread.ErrConflict), err)
		}
	}
	s.main = main
	if id != spec.Session {
		s = renewIDs(s, spec.Session, id)
	}
	if err := a.load(ctx, spec, from, s); err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	made, err := load(ctx, spec.Env, id)
	if err != nil {
		return "", fmt.Errorf("rebuild opencode session: %w", err)
	}
	if have, want := bytes.Count(made.main, []byte("\n")), bytes.Count(s.main, []byte("\n")); have < want {
		return "", fmt.Errorf("rebuild opencode session: only %d of %d messages were imported: %w", have, want,
			thread.ErrDamaged)
	}
	return id, nil
}

// newID returns a session id in opencode's format: later ones sort first.
func newID() string {
	ms := uint64(time.Now().UnixMilli()) << 12
	return fmt.Sprintf("ses_%012x%s", ^ms&(1<<48-1), randomText(14))
}

// renewIDs gives a session and everything in it new ids, in the same order: opencode skips objects whose id exists.
func renewIDs(s stored, from, to string) stored {
	ids := map[string]string{}
	swap := func(raw []byte) []byte {
		raw = bytes.ReplaceAll(raw, quote(from), quote(to))
		return idPattern().ReplaceAllFunc(raw, func(old []byte) []byte {
			id, ok := ids[string(old)]
			if !ok {
				m := idPattern().FindSubmatch(old)
				id = fmt.Sprintf(`"%s_%s%s"`, m[1], m[2], randomText(14))
				ids[string(old)] = id
			}
			return []byte(id)
		})
	}
	return stored{main: swap(s.main), session: swap(s.session)}
}

// load lets opencode import a session.
func (a *Agent) load(ctx context.Context, spec thread.RebuildSpec, from []string, s stored) error {
	info := fields{}
	if err := json.Unmarshal(s.session, &info); err != nil {
		return fmt.Errorf("stored session: %w", err)
	}
	info["directory"] = quote(spec.Dir)
	var messages []json.RawMessage
	transcript.Lines(s.main, func(line []byte) {
		messages = append(messages, bytes.Clone(relocate(line, from, spec.Dir)))
	})
	path, err := launch.WriteFile(spec.StateDir, "opencode-import.json",
		map[string]any{"info": info, "messages": messages})
	if err != nil {
		return err
	}
	defer os.Remove(path)
	env := launch.Env(spec.Env).Without("OPENCODE_CONFIG_CONTENT")
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, found.Path, append(append([]string{}, found.Args...), "import", path)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = spec.Dir, env, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("opencode import: %w: %.300s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
