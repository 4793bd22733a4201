package manager

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
)

// tellAtMost is how many things that are left out the screen is told of one by one.
const tellAtMost = 5

// leftOut tells what an operation left out, also on the screen. What cannot be found out is logged.
func (n *notices) leftOut(ctx context.Context, op thread.Operation, id thread.ID, dir, from string) []thread.LeftOut {
	f, ok := n.cfg.Merges.(thread.LeftOutFinder)
	if !ok {
		return nil
	}
	left, err := f.LeftOut(ctx, op, dir, from)
	if err != nil {
		n.cfg.Log.Warn("find out what was left out", "operation", string(op), "thread", string(id), "err", err)
	}
	if op != thread.OpDryRun { // who asked is told
		n.tellLeftOut(op, id, left)
	}
	return left
}

// tellLeftOut tells on the screen what an operation left out.
func (n *notices) tellLeftOut(op thread.Operation, id thread.ID, left []thread.LeftOut) {
	for i, l := range left {
		if i == tellAtMost {
			n.post(id, thread.LevelInfo, "%s leaves out %d more", op, len(left)-i)
			return
		}
		n.post(id, thread.LevelInfo, "%s leaves out %s", op, l)
	}
}

// skipped tells which files an operation left out because a snapshot does not have them, also on the screen, but for
// those below what is already known to be left out. dir is the folder that the operation made or changed.
func (n *notices) skipped(op thread.Operation, id thread.ID, dir string, files []thread.Skip, known []thread.LeftOut) []thread.LeftOut {
	named := map[string]bool{}
	for _, l := range known {
		named[l.Path] = true
	}
	var left []thread.LeftOut
	for _, k := range files {
		path := strings.TrimSuffix(k.Path, "/")
		if named[path] {
			continue
		}
		named[path] = true
		kind := thread.LeftFile
		if path != k.Path { // git lists a repository below as a folder
			kind = thread.LeftRepository
		}
		_, err := os.Lstat(filepath.Join(dir, path))
		left = append(left, thread.LeftOut{Kind: kind, Path: path, Why: k.Reason + ": " + skippedWords(op, err == nil)})
	}
	n.tellLeftOut(op, id, left)
	return left
}

// skippedWords returns what becomes of a file that a snapshot does not have.
func skippedWords(op thread.Operation, there bool) string {
	switch {
	case op == thread.OpRewind && there:
		return "it stays as it is now"
	case op == thread.OpRewind:
		return "it is not brought back"
	case there:
		return "it is here as it was committed, or as it was"
	}
	return "it is not here; copy it if it is needed"
}
