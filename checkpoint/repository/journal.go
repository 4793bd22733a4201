package repository

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/flock"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
)

// Kind is the kind of an operation of several steps.
type Kind string

// journals is the folder of the journals in our state of a repository.
const journals = "journal"

// The operations.
const (
	KindRestore Kind = "restore"
	KindAdd     Kind = "add"
	KindRemove  Kind = "remove"
)

// Operation is one of several steps, as in its journal. It contains names and no paths: what it works on is looked up
// where we put such things, in the folder of our worktrees, its trash, and the repository's list of worktrees.
type Operation struct {
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Thread  thread.ID `json:"thread"`
	Started time.Time `json:"started"`
	// Worktree is what it works on: for an add the name of the new folder, otherwise the name of the worktree's part of
	// the repository, "" for the main one.
	Worktree string `json:"worktree,omitempty"`

	// For a restore: the target, and the affected paths if not all.
	Target *thread.Snapshot `json:"target,omitempty"`
	Only   *[]string        `json:"only,omitempty"`

	// For an add: whether its branch was created for it, where it starts, and the ref that keeps the snapshot.
	NewBranch bool   `json:"newBranch,omitempty"`
	Base      string `json:"base,omitempty"`
	Ref       string `json:"ref,omitempty"`
	Commit    string `json:"commit,omitempty"`

	// For a remove: the branch that may be deleted too, and the folder's name in the trash.
	Branch string `json:"branch,omitempty"`
	Trash  string `json:"trash,omitempty"`
	// Whole is set if everything in the trash is also in the snapshot.
	Whole bool `json:"whole,omitempty"`
}

// check refuses an operation that no journal of ours can have: every name in it must be one that we use.
func (o Operation) check() error {
	bad := func(what, value string) error {
		return fmt.Errorf("its %s is %q: %w", what, git.Printable(value), thread.ErrDamaged)
	}
	switch {
	case !threadName().MatchString(o.ID):
		return bad("id", o.ID)
	case CheckID(o.Thread) != nil:
		return bad("thread", string(o.Thread))
	case o.Worktree != "" && !disk.IsName(o.Worktree):
		return bad("worktree", o.Worktree)
	case o.Base != "" && !git.IsObjectID(o.Base):
		return bad("base", o.Base)
	case o.Commit != "" && !git.IsObjectID(o.Commit):
		return bad("commit", o.Commit)
	case o.Ref != "" && (RefNumber(o.Ref) == 0 || o.Ref != RefName(o.Thread, RefNumber(o.Ref))):
		return bad("ref", o.Ref)
	case o.Branch != "" && !OurBranch(o.Branch):
		return bad("branch", o.Branch)
	case o.Trash != "" && !trashName().MatchString(o.Trash):
		return bad("name in the trash", o.Trash)
	}
	whole := false
	switch o.Kind {
	case KindRestore:
		whole = o.Target != nil && git.IsObjectID(o.Target.Commit)
	case KindAdd:
		whole = OurBranch(BranchPrefix+o.Worktree) && o.Commit != "" && o.Ref != ""
	case KindRemove:
		whole = o.Worktree != "" && o.Trash != ""
	}
	if !whole {
		return bad("kind", string(o.Kind))
	}
	return nil
}

// Journal is an Operation's file. It is locked while the process that works on it lives.
type Journal struct {
	Operation
	file  *os.File
	path  string
	Again bool // it continues an interrupted operation
}

// Journals are the journals of the operations on one repository.
type Journals struct {
	state      string // the folder of all our state
	repository string // its name there
}

// Begin writes an operation's journal, durably, before the first step.
func (js Journals) Begin(o Operation) (*Journal, error) {
	again := o.ID != ""
	if !again {
		o.ID, o.Started = thread.NewID[string](), time.Now()
	}
	j, err := js.write(o)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", o.Kind, err)
	}
	j.Again = again
	return j, nil
}

func (js Journals) write(o Operation) (*Journal, error) {
	if err := o.check(); err != nil {
		return nil, err // it could not be read back
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	dir, err := private.Make(js.state, js.repository, journals)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := unborn + thread.NewID[string]()
	f, err := dir.File(name, os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	j := &Journal{Operation: o, file: f, path: dir.Path(o.ID + ".json")}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // before anybody can see it
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(dir.Path(name), j.path)
	}
	if err == nil {
		err = dir.Sync()
	}
	if err != nil {
		f.Close()
		os.Remove(dir.Path(name))
		return nil, err
	}
	return j, nil
}

// End removes the journal: the operation is complete.
func (j *Journal) End() error {
	defer j.file.Close()
	if err := os.Remove(j.path); err != nil {
		return fmt.Errorf("end %s: %w", j.Kind, err)
	}
	return atomicfile.SyncDir(filepath.Dir(j.path))
}

// Leave keeps the journal for Repair.
func (j *Journal) Leave() { j.file.Close() }

// Quiet reports whether there is no journal of a repository, by the folder of its name in our state: no operation has
// begun or was left unfinished.
func Quiet(state, repository string) bool {
	left, err := os.ReadDir(filepath.Join(state, repository, journals))
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(left) == 0
}

// Left returns the operations that have begun and that nobody works on any more. Files among the journals that are not
// ours are quarantined and reported in refused.
func (js Journals) Left() (ops []Operation, refused []string, err error) {
	dir, err := private.Open(js.state, js.repository, journals)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read journals: %w", err)
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		return nil, nil, fmt.Errorf("read journals: %w", err)
	}
	for _, e := range entries {
		o, free, err := readJournal(dir, e.Name())
		switch {
		case err == nil && !free, errors.Is(err, fs.ErrNotExist):
		case strings.HasPrefix(e.Name(), unborn) && free: // never completed: nothing had begun
			_ = dir.Remove(e.Name())
		case err != nil:
			said, err := js.quarantine(dir, e.Name(), err)
			if err != nil {
				return nil, nil, fmt.Errorf("read journals: %w", err)
			}
			refused = append(refused, said)
		default:
			ops = append(ops, o)
		}
	}
	slices.SortFunc(ops, func(a, b Operation) int { return a.Started.Compare(b.Started) }) // one may continue another
	return ops, refused, nil
}

const (
	// unborn is the prefix of incomplete journals.
	unborn = "new-"
	// maxJournal is the maximum size of a journal: a snapshot may have skipped many files.
	maxJournal = 64 << 20
)

// readJournal reads a journal. free is set if nobody works on it.
func readJournal(dir *private.Folder, name string) (o Operation, free bool, err error) {
	if err := dir.Check(name); err != nil {
		return Operation{}, false, err
	}
	f, free := flock.TryLock(dir.Path(name))
	if !free {
		return Operation{}, false, nil
	}
	defer f.Close()
	b, err := dir.Read(name, maxJournal)
	if err != nil {
		return Operation{}, true, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return Operation{}, true, fmt.Errorf("it is unreadable: %w", err)
	}
	if o.ID+".json" != name {
		return Operation{}, true, fmt.Errorf("its name does not match its operation: %w", thread.ErrDamaged)
	}
	return o, true, o.check()
}

// quarantine moves a file that is not a journal of ours out of the way and reports it. Nothing that it names is
// touched.
func (js Journals) quarantine(dir *private.Folder, name string, why error) (string, error) {
	refused, err := private.Make(js.state, js.repository, "refused")
	if err != nil {
		return "", err
	}
	defer refused.Close()
	to := refused.Path(time.Now().UTC().Format(trashTime) + "-" + thread.NewID[string]()[:6])
	if err := os.Rename(dir.Path(name), to); err != nil {
		return "", err
	}
	return fmt.Sprintf("moved %s to %s: it is not one of our journals (%s); nothing that it names was touched",
		git.Printable(name), to, git.Printable(why.Error())), nil
}

// Forget removes the journal of a settled operation.
func (js Journals) Forget(o Operation) error {
	dir, err := private.Open(js.state, js.repository, journals)
	if err == nil {
		defer dir.Close()
		err = dir.Remove(o.ID + ".json")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
