package snapshot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// namespace is where our refs stand; git's own commands show it to nobody who does not ask for all refs.
const namespace = "refs/orchestrator/"

// branchPrefix is what the branches of our worktrees begin with.
const branchPrefix = "orchestrator/"

// trashFolder lies in the folder of our worktrees.
const trashFolder = ".trash"

const trashTime = "20060102T150405"

// trashName is what removed worktrees are called: when, six digits, and their own name.
var trashName = pattern.Lazy(`^[0-9]{8}T[0-9]{6}-[0-9a-f]{6}-[^/\x00]{1,200}$`)

func nameInTrash(of string, now time.Time) string {
	return now.UTC().Format(trashTime) + "-" + thread.NewID[string]()[:6] + "-" + of[:min(len(of), 200)]
}

var threadName = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

func checkID(id thread.ID) error {
	if !threadName().MatchString(string(id)) {
		return fmt.Errorf("thread id %q: %w", git.Printable(string(id)), thread.ErrInvalid)
	}
	return nil
}

// ourBranch reports whether Add makes branches of that name.
func ourBranch(name string) bool {
	rest, ok := strings.CutPrefix(name, branchPrefix)
	return ok && !strings.Contains(rest, "/") && git.CheckBranch(name) == nil
}

func refName(id thread.ID, n int) string { return namespace + string(id) + "/" + strconv.Itoa(n) }

// number returns the number of a ref of ours, 0 for any other.
func number(ref string) int {
	n, err := strconv.Atoi(ref[strings.LastIndexByte(ref, '/')+1:])
	if err != nil {
		return 0
	}
	return n
}

// after returns the number that follows a thread's refs.
func after(refs map[string]string, id thread.ID) int {
	n := 1
	for ref := range refs {
		if last := number(ref); last >= n && strings.HasPrefix(ref, namespace+string(id)+"/") {
			n = last + 1
		}
	}
	return n
}
