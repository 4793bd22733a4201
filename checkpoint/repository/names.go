package repository

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Namespace is the prefix of our refs; git's own commands show them only to those who ask for all refs.
const Namespace = "refs/orchestrator/"

// BranchPrefix is the prefix of the branches of our worktrees.
const BranchPrefix = "orchestrator/"

const trashTime = "20060102T150405"

// trashName is the name of a removed worktree: the time, six digits, and its own name.
var trashName = pattern.Lazy(`^[0-9]{8}T[0-9]{6}-[0-9a-f]{6}-[^/\x00]{1,200}$`)

// TrashName is the name in the trash of a worktree that is moved there now.
func TrashName(of string, now time.Time) string {
	return now.UTC().Format(trashTime) + "-" + thread.NewID[string]()[:6] + "-" + of[:min(len(of), 200)]
}

// TrashedAt returns when something was moved to the trash, by its name there; false for a name that we do not give.
func TrashedAt(name string) (time.Time, bool) {
	at, _, _ := strings.Cut(name, "-")
	moved, err := time.Parse(trashTime, at)
	return moved, err == nil && trashName().MatchString(name)
}

var threadName = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// CheckID refuses what cannot be the id of a thread: it becomes part of names and paths.
func CheckID(id thread.ID) error {
	if !threadName().MatchString(string(id)) {
		return fmt.Errorf("thread id %q: %w", git.Printable(string(id)), thread.ErrInvalid)
	}
	return nil
}

// OurBranch reports whether Add creates branches of that name.
func OurBranch(name string) bool {
	rest, ok := strings.CutPrefix(name, BranchPrefix)
	return ok && !strings.Contains(rest, "/") && git.CheckBranch(name) == nil
}

// RefName is the ref of a thread's nth snapshot.
func RefName(id thread.ID, n int) string { return Namespace + string(id) + "/" + strconv.Itoa(n) }

// RefNumber returns the number of a ref of ours, 0 for any other.
func RefNumber(ref string) int {
	n, err := strconv.Atoi(ref[strings.LastIndexByte(ref, '/')+1:])
	if err != nil {
		return 0
	}
	return n
}

// NextNumber returns the number after a thread's refs.
func NextNumber(refs map[string]string, id thread.ID) int {
	n := 1
	for ref := range refs {
		if last := RefNumber(ref); last >= n && strings.HasPrefix(ref, Namespace+string(id)+"/") {
			n = last + 1
		}
	}
	return n
}
