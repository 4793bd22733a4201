package words

import (
	"context"
	"database/sql"
	"path"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/secret"
)

const (
	// mostFiles is how many changed files are found besides what was said, and mostPaths how many of one turn are indexed:
	// one that changes more has unpacked something.
	mostFiles = 10
	mostPaths = 1000
)

// Changes returns for each step the paths that differ.
type Changes func(context.Context, []thread.FileStep) ([][]string, error)

// turnFiles are the paths that a turn changed.
type turnFiles struct {
	of    thread.Checkpoint
	paths []string
}

// of returns what the turns after a checkpoint changed, oldest first; all are the checkpoints of the thread, the
// newest first, with one from before. What changed in a turn is the difference to the snapshot before it.
func (list Changes) of(
	ctx context.Context, read func(context.Context, thread.CheckpointID) (thread.Checkpoint, error), after int64, all []thread.Checkpoint,
) ([]turnFiles, error) {
	if list == nil {
		return nil, nil
	}
	var steps []thread.FileStep
	var out []turnFiles
	var before *thread.Snapshot
	for i := len(all) - 1; i >= 0; i-- {
		c := all[i]
		if c.Snapshot == nil {
			continue
		}
		if c.Kind == thread.KindTurn && c.Seq > after && c.Snapshot.Files > 0 {
			from := c.Snapshot.Base
			if before == nil { // a fork begins with the files of its fork point
				before = inherited(ctx, read, c.Parent)
			}
			if before != nil {
				from = before.Commit
			}
			steps, out = append(steps, thread.FileStep{From: from, To: c.Snapshot.Commit}), append(out, turnFiles{of: c})
		}
		before = c.Snapshot
	}
	if len(steps) == 0 {
		return nil, nil
	}
	paths, err := list(ctx, steps)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(paths) != len(steps) { // the texts are found all the same
		return nil, nil
	}
	for i := range out {
		out[i].paths = paths[i][:min(len(paths[i]), mostPaths)]
	}
	return out, nil
}

// inherited returns the snapshot at a checkpoint: its own, or the nearest one before; nil if there is none nearby.
func inherited(
	ctx context.Context, read func(context.Context, thread.CheckpointID) (thread.Checkpoint, error), id thread.CheckpointID,
) *thread.Snapshot {
	const near = 100 // responses of a turn have none
	for range near {
		if id == "" {
			return nil
		}
		c, err := read(ctx, id)
		if err != nil || c.Snapshot != nil {
			return c.Snapshot
		}
		id = c.Parent
	}
	return nil
}

func addPaths(ctx context.Context, tx *sql.Tx, turns []turnFiles) error {
	for _, t := range turns {
		for _, p := range t.paths {
			_, err := tx.ExecContext(ctx, "INSERT INTO paths (thread, checkpoint, turn, path, at) VALUES (?, ?, ?, ?, ?)",
				t.of.Thread, t.of.ID, t.of.Turn, p, t.of.Created.UnixMilli())
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// findPaths finds changed files; with begins only those whose names begin with the first word, or whose paths have it if it
// names a folder.
func findPaths(
	ctx context.Context, db *sql.DB, name func(thread.ID) string, query string, limit int, begins bool,
) ([]thread.Hit, error) {
	words := strings.Fields(strings.ToLower(query))
	if limit <= 0 || len(words) == 0 && begins {
		return nil, nil
	}
	where, args := "1", []any{}
	for _, w := range words {
		where += ` AND path LIKE ? ESCAPE '!'`
		args = append(args, "%"+strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(w)+"%")
	}
	rows, err := db.QueryContext(ctx, "SELECT thread, checkpoint, turn, path, at, MAX(id) FROM paths WHERE "+where+
		" GROUP BY thread, path ORDER BY at DESC, MAX(id) DESC", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []thread.Hit
	for rows.Next() && len(hits) < limit {
		h := thread.Hit{Where: "changed"}
		var at, id int64
		if err := rows.Scan(&h.Thread, &h.Checkpoint, &h.Turn, &h.Snippet, &at, &id); err != nil {
			return nil, err
		}
		if begins && !strings.HasPrefix(strings.ToLower(path.Base(h.Snippet)), words[0]) && !strings.Contains(words[0], "/") {
			continue
		}
		if h.Name = name(h.Thread); h.Name == "" {
			continue
		}
		h.At, h.Snippet = time.UnixMilli(at).UTC(), secret.Redact(h.Snippet)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}
