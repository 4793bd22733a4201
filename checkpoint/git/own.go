package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/accept"
)

// Setting is one setting of a configuration.
type Setting struct {
	Key    string // as git lists it: section and name in lower case
	Value  string
	valued bool // false for a "key" without a value, which means true
}

// Own is a repository's own configuration, with all includes, as it was when read, once. Later changes to the
// configuration do not affect it.
type Own struct {
	worktree Worktree
	settings []Setting       // the repository's own
	persons  map[string]bool // settings of the person's own configuration: "key\nvalue"
	allows   []string        // protocols that the person's own configuration allows
	hooks    []string        // names of hooks that the person's own configuration defines
	content  []byte
}

// ReadOwn reads the configuration of a worktree's repository. It runs nothing from it.
func (g *Git) ReadOwn(ctx context.Context, w Worktree) (*Own, error) {
	if err := w.Sound(); err != nil {
		return nil, fmt.Errorf("read the repository's configuration: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, g.readLimit)
	defer cancel()
	out, err := g.Run(limited, Call{
		Dir: w.Root, Env: w.Env(), Args: []string{"config", "--list", "--show-scope", "--includes", "-z"},
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, thread.Hint(fmt.Errorf("read the configuration of %s: timed out after %s", w.Root, g.readLimit),
			"git -C "+w.Root+" config --list --show-origin shows the included files")
	}
	if err != nil {
		return nil, fmt.Errorf("read the repository's configuration: %w", err)
	}
	o := &Own{worktree: w, persons: map[string]bool{}}
	f := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		key, value, valued := strings.Cut(f[i+1], "\n")
		if f[i] == "local" || f[i] == "worktree" {
			o.settings = append(o.settings, Setting{Key: key, Value: value, valued: valued})
			continue
		}
		o.persons[key+"\n"+value] = true
		if section, sub, _, ok := parts(key); ok && section == "hook" && !slices.Contains(o.hooks, sub) {
			o.hooks = append(o.hooks, sub)
		}
		if name, ok := strings.CutPrefix(key, "protocol."); ok && value == "always" {
			o.allows = append(o.allows, strings.TrimSuffix(name, ".allow"))
		}
	}
	o.content, err = accept.Content(o.commands(), accept.Folder(w.Root), w.Root)
	if err != nil {
		return nil, fmt.Errorf("read the programs in the repository's configuration: %w", err)
	}
	return o, nil
}

// Programs returns the settings that name a program, or change who a remote is reached through, and that are neither in
// the person's own configuration too nor from git-lfs.
func (o *Own) Programs(uses ...Use) []Setting {
	var found []Setting
	for _, s := range o.settings {
		use := useOf(s.Key)
		for _, u := range uses {
			if use == u && !o.known(s) {
				found = append(found, s)
			}
		}
	}
	return found
}

// known reports whether a setting is in the person's configuration as well.
func (o *Own) known(s Setting) bool {
	return o.persons[s.Key+"\n"+s.Value] || lfs[s.Value] || (s.Value == "" && useOf(s.Key) == Converts)
}

// lfs are the commands that git-lfs itself writes into a repository.
var lfs = map[string]bool{
	"git-lfs clean -- %f": true, "git-lfs smudge -- %f": true, "git-lfs filter-process": true,
	"git-lfs smudge --skip -- %f": true, "git-lfs filter-process --skip": true,
}

func (o *Own) commands() []accept.Command {
	var all []accept.Command
	for _, s := range o.Programs(Converts, Connects) {
		all = append(all, accept.Command{Name: s.Key, Line: s.Value})
	}
	return all
}

// Place and Content are what the person accepts: all programs at once, with the files of the worktree that they name. A
// repository's worktrees may have different files, so each content has its own place.
func (o *Own) Place() string {
	return filepath.Join(o.worktree.Common, "config") + "#" + accept.Short(o.content)
}

// Content is empty if there is nothing to accept.
func (o *Own) Content() []byte { return o.content }

// LFS reports whether git-lfs is set up, by the person or in the repository.
func (o *Own) LFS() bool {
	for _, key := range []string{"filter.lfs.process", "filter.lfs.clean"} {
		for command := range lfs {
			if o.persons[key+"\n"+command] {
				return true
			}
		}
		for _, s := range o.settings {
			if s.Key == key && lfs[s.Value] {
				return true
			}
		}
	}
	return false
}

// Protocols returns the protocols that a remote may be reached by, in the form of GIT_ALLOW_PROTOCOL: git's own, and
// those that the person's own configuration allows. "ext" runs the command in a URL and is never among them.
func (o *Own) Protocols() string {
	all := []string{"file", "git", "http", "https", "ssh"}
	for _, name := range o.allows {
		if name != "ext" && name != "protocol.allow" && !strings.Contains(name, ":") {
			all = append(all, name)
		}
	}
	return strings.Join(all, ":")
}
