package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A frozen view is a folder that stands for the shared part of a repository, GIT_COMMON_DIR to git: refs and objects
// are links to the repository's, its configuration is written by us from an Own, and there are no hooks and no
// old-style remotes. So git reads the configuration that was judged, whatever is written into the repository's
// meanwhile. HEAD, index and the state of a merge are the worktree's own as ever.

// shared are the parts of a repository that a view links to.
var shared = []string{"objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees", "modules", "lfs"}

// Freeze writes the view into an empty folder that nobody else may write, and returns the environment that has git
// use it. The programs of the repository's own configuration are in it only where they were accepted.
func (o *Own) Freeze(dir string, accepted bool) ([]string, error) {
	for _, name := range shared {
		to := filepath.Join(o.worktree.Common, name)
		switch name {
		case "logs": // git makes it, but not through a link that leads nowhere
			_ = os.Mkdir(to, 0o777)
		case "lfs":
			if o.LFS() {
				_ = os.Mkdir(to, 0o777) // as logs
			}
		case "modules", "reftable":
			if _, err := os.Lstat(to); err != nil {
				continue
			}
		}
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("freeze the configuration: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(o.text(accepted)), 0o600); err != nil {
		return nil, fmt.Errorf("freeze the configuration: %w", err)
	}
	return append(o.worktree.Env(), "GIT_COMMON_DIR="+dir), nil
}

// text is the view's configuration.
func (o *Own) text(accepted bool) string {
	var b strings.Builder
	// For the git that gh and git-lfs start; each of our calls says it too.
	b.WriteString("[core]\n\tfsmonitor = false\n\thooksPath = /dev/null\n")
	for _, s := range o.settings {
		if !isData(s.Key) && (useOf(s.Key) == 0 || !accepted && !o.known(s)) {
			continue
		}
		section, sub, name, hasSub := parts(s.Key)
		if hasSub {
			fmt.Fprintf(&b, "[%s \"%s\"]\n\t%s", section, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub), name)
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

// quote writes a value for git's configuration file.
func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(v) + `"`
}
