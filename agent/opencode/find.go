package opencode

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// FindSession implements thread.SessionFinder: the thread's session is the only one that was opened in its folder since
// its agent was started, is no other thread's, and holds a prompt that it was asked. One that was asked nothing that is known
// takes it only if no other thread could.
func (a *Agent) FindSession(ctx context.Context, spec thread.FindSpec) (string, error) {
	found, err := find(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("find opencode session: %w", err)
	}
	return found, nil
}

func find(ctx context.Context, spec thread.FindSpec) (string, error) {
	if len(spec.Prompts) == 0 && spec.Rivals {
		return "", nil
	}
	tx, end, err := begin(ctx, database(launch.Env(spec.Env)))
	if err != nil || tx == nil {
		return "", err
	}
	defer end()
	real, err := filepath.EvalSymlinks(spec.Dir)
	if err != nil {
		real = spec.Dir
	}
	opened, err := column(ctx, tx, `SELECT id FROM session WHERE parent_id IS NULL AND directory IN (?, ?) AND time_created >= ?`,
		spec.Dir, real, spec.Since.UnixMilli())
	if err != nil {
		return "", err
	}
	own := ""
	for _, id := range opened {
		if checkSession(id) != nil || spec.Taken != nil && spec.Taken(id) {
			continue
		}
		heard := len(spec.Prompts) == 0
		if !heard {
			if heard, err = hears(ctx, tx, id, spec.Prompts); err != nil {
				return "", err
			}
		}
		switch {
		case !heard:
		case own != "":
			return "", nil
		default:
			own = id
		}
	}
	return own, nil
}

// hears reports whether one of the prompts is in a session.
func hears(ctx context.Context, tx *sql.Tx, session string, prompts []string) (bool, error) {
	parts, err := column(ctx, tx, `SELECT p.data FROM part p JOIN message m ON m.id = p.message_id
		WHERE p.session_id = ? AND json_extract(m.data, '$.role') = 'user'`, session)
	if err != nil {
		return false, err
	}
	for _, data := range parts {
		var p struct{ Text string }
		if json.Unmarshal([]byte(data), &p) == nil && len(turns.Claim(p.Text, prompts)) > 0 {
			return true, nil
		}
	}
	return false, nil
}
