package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/flock"
	"orchestrator/thread"
)

// opKind is what an operation of several steps does.
type opKind string

const (
	opRestore opKind = "restore"
	opAdd     opKind = "add"
	opRemove  opKind = "remove"
)

// op is an operation of several steps, as its journal tells it.
type op struct {
	ID      string    `json:"id"`
	Kind    opKind    `json:"kind"`
	Thread  thread.ID `json:"thread"`
	Started time.Time `json:"started"`
	// Root is the worktree it works on.
	Root string `json:"root"`

	// Of a restore: where it goes.
	Target *thread.Snapshot `json:"target,omitempty"`

	// Of an add: the branch, whether it was made for it, where it starts, and the ref that keeps the snapshot.
	Branch    string `json:"branch,omitempty"`
	NewBranch bool   `json:"newBranch,omitempty"`
	Base      string `json:"base,omitempty"`
	Ref       string `json:"ref,omitempty"`
	Commit    string `json:"commit,omitempty"`

	// Of a remove: the worktree's part of the repository, and where the files go.
	GitDir string `json:"gitDir,omitempty"`
	Trash  string `json:"trash,omitempty"`
	// Whole is set when the trash holds nothing that the snapshot does not.
	Whole bool `json:"whole,omitempty"`
}

// journal is an op's file. It is locked as long as the process that works on it lives.
type journal struct {
	op
	file  *os.File
	path  string
	again bool // it goes on with an operation that was cut off
}

func (w *worktree) journals() string { return filepath.Join(w.commonState(), "journal") }

// begin writes an operation's journal, durably, before the first step.
func (w *worktree) begin(o op) (*journal, error) {
	dir, again := w.journals(), o.ID != ""
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin %s: %w", o.Kind, err)
	}
	if !again {
		o.ID, o.Started = thread.NewID[string](), time.Now()
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", o.Kind, err)
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", o.Kind, err)
	}
	j := &journal{op: o, file: f, path: filepath.Join(dir, o.ID+".json"), again: again}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // before anybody can see it
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), j.path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("begin %s: %w", o.Kind, err)
	}
	return j, nil
}

// end takes the journal away: the operation is whole.
func (j *journal) end() error {
	defer j.file.Close()
	if err := os.Remove(j.path); err != nil {
		return fmt.Errorf("end %s: %w", j.Kind, err)
	}
	return syncDir(filepath.Dir(j.path))
}

// leave keeps the journal for Repair.
func (j *journal) leave() { j.file.Close() }

// left returns the operations that were begun and that nobody works on any more.
func (w *worktree) left() ([]op, error) {
	entries, err := os.ReadDir(w.journals())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read journals: %w", err)
	}
	var ops []op
	for _, e := range entries {
		path := filepath.Join(w.journals(), e.Name())
		f, free := flock.TryLock(path)
		if !free {
			continue
		}
		b, err := os.ReadFile(path)
		f.Close()
		var o op
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case strings.HasPrefix(e.Name(), "new-"): // never came to be: nothing had begun
			os.Remove(path)
		case err != nil:
			return nil, fmt.Errorf("read journals: %w", err)
		case json.Unmarshal(b, &o) != nil || o.ID+".json" != e.Name():
			return nil, fmt.Errorf("read journal %s: %w", path, thread.ErrDamaged)
		default:
			ops = append(ops, o)
		}
	}
	return ops, nil
}
