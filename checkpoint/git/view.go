package git

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
)

// A frozen view is a folder that replaces the shared part of a repository, GIT_COMMON_DIR for git: refs and objects are
// links to the repository's, the configuration is written by us from an Own, and there are no hooks and no old-style
// remotes. So git reads the configuration that was checked, whatever is written to the repository's in the meantime.
// HEAD, index and the state of a merge are still the worktree's own.

// shared are the parts of a repository that a view links to.
var shared = []string{"objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees", "modules",
	"lfs"}

// Freeze writes the view into a folder that nobody else can write to, empty or with an older view of the same
// repository, and returns the environment that makes git use it. It includes the programs of the repository's own
// configuration only if they were accepted.
func (o *Own) Freeze(dir string, accepted bool) ([]string, error) {
	for _, name := range shared {
		to := filepath.Join(o.worktree.Common, name)
		switch name {
		case "logs": // git creates it, but not through a dangling link
			_ = os.Mkdir(to, 0o777)
		case "lfs":
			if o.LFS() {
				_ = os.Mkdir(to, 0o777) // like logs
			}
		case "modules", "reftable":
			if _, err := os.Lstat(to); err != nil {
				continue
			}
		}
		link := filepath.Join(dir, name)
		if at, err := os.Readlink(link); err == nil {
			if at == to {
				continue
			}
			if err := os.Remove(link); err != nil { // the repository was moved
				return nil, notFrozen(err)
			}
		}
		if err := os.Symlink(to, link); err != nil {
			return nil, notFrozen(err)
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, "config"), []byte(sealed(o.text(accepted))), false); err != nil {
		return nil, notFrozen(err)
	}
	return o.worktree.In(dir), nil
}

// notFrozen is why there is no view; on a full disk it is a thread.ErrDiskFull.
func notFrozen(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return thread.Hint(fmt.Errorf("freeze the configuration: %w: %w", thread.ErrDiskFull, err), "free some space, then try again")
	}
	return fmt.Errorf("freeze the configuration: %w", err)
}

// Frozen reports whether a folder has a view whose configuration is unchanged.
func Frozen(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return false
	}
	end := bytes.LastIndex(b, []byte(seal))
	return end >= 0 && sealed(string(b[:end])) == string(b)
}

// seal begins the last line of a view's configuration, a comment with the hash of the text above it.
const seal = "# sha256 "

func sealed(text string) string {
	return fmt.Sprintf("%s%s%x\n", text, seal, sha256.Sum256([]byte(text)))
}

// In is the environment that makes git use an existing view.
func (w Worktree) In(view string) []string { return append(w.Env(), "GIT_COMMON_DIR="+view) }

// text is the view's configuration.
func (o *Own) text(accepted bool) string {
	var b strings.Builder
	// For the git that gh and git-lfs start; our own calls set it too.
	b.WriteString("[core]\n\tfsmonitor = false\n\thooksPath = /dev/null\n")
	for _, name := range o.hooks { // the person's: hooks do not run for our operations, as with core.hooksPath
		fmt.Fprintf(&b, "[hook %s]\n\tenabled = false\n", subsection(name))
	}
	for _, s := range o.settings {
		if !isData(s.Key) && (useOf(s.Key) == 0 || !accepted && !o.known(s)) {
			continue
		}
		section, sub, name, hasSub := parts(s.Key)
		if hasSub {
			fmt.Fprintf(&b, "[%s %s]\n\t%s", section, subsection(sub), name)
		} else {
			fmt.Fprintf(&b, "[%s]\n\t%s", section, name)
		}
		if s.Key == "lfs.storage" && !filepath.IsAbs(s.Value) {
			s.Value = filepath.Join(o.worktree.Common, s.Value)
		}
		if s.valued {
			b.WriteString(" = " + quote(s.Value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// subsection quotes the name of a subsection.
func subsection(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// quote quotes a value for git's configuration file.
func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(v) + `"`
}
