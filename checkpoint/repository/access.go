package repository

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/ground/atomicfile"
)

// Access is how git is run on a repository, through one of its worktrees and with our state for that:
//
//	home/lock    flock: one operation at a time
//	home/shadow/ a git folder of our own: its configuration and attributes are ours, its objects the repository's
//	home/view/   a frozen view of the repository
//	home/stamp   the input of the shadow's configuration
type Access struct {
	Git      git.Worktree
	Home     string
	Settings Settings
	git      *git.Git
	locks    *Locks
	below    string // path in the project of this other repository, "" for its own and for one elsewhere
}

// Index is the private index.
func (a *Access) Index() string { return filepath.Join(a.Home, "index") }

func (a *Access) shadow() string { return filepath.Join(a.Home, "shadow") }
func (a *Access) stamp() string  { return filepath.Join(a.Home, "stamp") }

// CommonState is our folder for what belongs to the repository and not to one worktree.
func (a *Access) CommonState() string { return filepath.Dir(a.Home) }

// private makes git see the worktree through our own git folder and index.
func (a *Access) private() []string {
	return []string{
		"GIT_DIR=" + a.shadow(),
		"GIT_WORK_TREE=" + a.Git.Root,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(a.Git.Common, "objects"),
		"GIT_INDEX_FILE=" + a.Index(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
	}
}

// view is a frozen view of the repository, with its own configuration as it was when a.Settings was read: programs that
// git runs because of that configuration do not run for us.
func (a *Access) view() string { return filepath.Join(a.Home, "view") }

// Ours runs git through our own git folder and index.
func (a *Access) Ours(ctx context.Context, c git.Call) ([]byte, error) {
	if err := unlinked(a.Git, c); err != nil {
		return nil, err
	}
	c.Dir, c.Env = a.Git.Root, append(a.private(), c.Env...)
	out, err := a.git.Run(ctx, c)
	if info, statErr := os.Lstat(a.Index()); statErr == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		err = errors.Join(err, os.Chmod(a.Index(), 0o600)) // git makes it as the umask has it
	}
	return out, err
}

// Theirs runs git with the person's repository and index, by the frozen view.
func (a *Access) Theirs(ctx context.Context, c git.Call) ([]byte, error) {
	if !a.viewed() { // a worktree that is only being repaired
		if err := a.freeze(ctx); err != nil {
			return nil, err
		}
	}
	return a.TheirsIn(ctx, a.Git, c)
}

// TheirsIn is Theirs in another worktree of the repository, with a view that exists.
func (a *Access) TheirsIn(ctx context.Context, w git.Worktree, c git.Call) ([]byte, error) {
	if err := unlinked(w, c); err != nil {
		return nil, err
	}
	c.Dir, c.Env = w.Root, append(w.In(a.view()), c.Env...)
	return a.git.Run(ctx, c)
}

// unlinked returns an error if a call would write through a link.
func unlinked(w git.Worktree, c git.Call) error {
	if !c.Durable && !c.Reflog {
		return nil
	}
	return w.Unlinked()
}

// Live runs git with the repository as it is, for commands that start no program whatever its configuration says.
func (a *Access) Live(ctx context.Context, c git.Call) ([]byte, error) {
	if err := unlinked(a.Git, c); err != nil {
		return nil, err
	}
	c.Dir, c.Env = a.Git.Root, append(a.Git.Env(), c.Env...)
	return a.git.Run(ctx, c)
}

// viewed reports whether there is an intact view of the repository at its current location.
func (a *Access) viewed() bool {
	to, err := os.Readlink(filepath.Join(a.view(), "objects"))
	return err == nil && to == filepath.Join(a.Git.Common, "objects") && git.Frozen(a.view())
}

// freeze creates the view, or updates it.
func (a *Access) freeze(ctx context.Context) error {
	own, err := a.git.ReadOwn(ctx, a.Git)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.view(), 0o700); err != nil {
		return err
	}
	_, err = own.Freeze(a.view(), false)
	return err
}

// Prepare creates the state folder and updates the shadow's configuration.
func (a *Access) Prepare(ctx context.Context) error {
	b, err := os.ReadFile(a.stamp())
	if err == nil && json.Unmarshal(b, &a.Settings) == nil && a.Settings.fresh() && a.whole() {
		return nil
	}
	if err := os.MkdirAll(a.Home, 0o700); err != nil {
		return err
	}
	if a.below != "" { // the next start finds the repository by this
		if err := atomicfile.Write(filepath.Join(a.CommonState(), "root"), []byte(a.below), true); err != nil {
			return err
		}
	}
	if a.Settings, err = a.ReadSettings(ctx); err != nil {
		return err
	}
	unlock, err := a.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := a.freeze(ctx); err != nil {
		return err
	}
	return a.WriteShadow()
}

// PrepareLike is Prepare for a worktree that was just created, with the settings of another one of the repository.
func (a *Access) PrepareLike(ctx context.Context, other *Access) error {
	a.Settings = other.Settings
	a.Settings.Origins = append(slices.Clone(other.Settings.Origins), stampOf(a.OwnConfig()))
	if err := os.MkdirAll(a.Home, 0o700); err != nil {
		return err
	}
	if err := a.freeze(ctx); err != nil {
		return err
	}
	return a.WriteShadow()
}

// OwnConfig is the path of the configuration of this worktree alone, which may not exist.
func (a *Access) OwnConfig() string { return filepath.Join(a.Git.GitDir, "config.worktree") }

// ReadSettings reads the configuration as it is now.
func (a *Access) ReadSettings(ctx context.Context) (Settings, error) {
	out, err := a.Live(ctx, git.Call{Args: []string{"config", "--list", "--show-origin", "-z", "--includes"}})
	if err != nil {
		return Settings{}, fmt.Errorf("read configuration: %w", err)
	}
	s := Settings{FileMode: true, Symlinks: true, Format: "sha1"}
	origins := map[string]bool{
		filepath.Join(a.Git.Common, "config"): true,
		a.OwnConfig():                         true,
	}
	for _, env := range a.git.Env() {
		switch key, v, _ := strings.Cut(env, "="); key {
		case "HOME":
			origins[filepath.Join(v, ".gitconfig")] = true
			origins[filepath.Join(v, ".config/git/config")] = true
		case "XDG_CONFIG_HOME":
			origins[filepath.Join(v, "git/config")] = true
		}
	}
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		if from, ok := strings.CutPrefix(string(fields[i]), "file:"); ok {
			if !filepath.IsAbs(from) {
				from = filepath.Join(a.Git.Root, from)
			}
			origins[from] = true
		}
		key, value, valued := strings.Cut(string(fields[i+1]), "\n")
		s.read(key, value, !valued || parseBool(value))
	}
	for path := range origins {
		s.Origins = append(s.Origins, stampOf(path))
	}
	slices.SortFunc(s.Origins, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
	if s.Excludes != "" {
		s.Excludes = expandHome(s.Excludes, a.git.Env())
	}
	return s, nil
}

// WriteShadow creates our own git folder. The caller holds the lock.
func (a *Access) WriteShadow() error {
	if err := os.Remove(a.stamp()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(a.shadow(), dir), 0o700); err != nil {
			return err
		}
	}
	exclude := filepath.Join(a.shadow(), "info/exclude")
	if err := os.Remove(exclude); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Join(a.Git.Common, "info/exclude"), exclude); err != nil {
		return err
	}
	for name, text := range a.Settings.shadow() {
		if err := atomicfile.Write(filepath.Join(a.shadow(), name), []byte(text), false); err != nil {
			return err
		}
	}
	b, err := json.Marshal(a.Settings)
	if err != nil {
		return err
	}
	return atomicfile.Write(a.stamp(), b, false)
}

// whole reports whether our own git folder is intact: a power cut may have emptied its files, which are not synced.
func (a *Access) whole() bool {
	if !a.viewed() {
		return false
	}
	for name, text := range a.Settings.shadow() {
		if b, err := os.ReadFile(filepath.Join(a.shadow(), name)); err != nil || string(b) != text {
			return false
		}
	}
	return true
}

// Lock gives the caller exclusive use of this worktree, also against other processes.
func (a *Access) Lock(ctx context.Context) (unlock func(), err error) {
	return a.locks.lock(ctx, filepath.Join(a.Home, "lock"))
}
