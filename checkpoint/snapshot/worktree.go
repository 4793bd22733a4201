package snapshot

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
	"orchestrator/thread"
)

// worktree is one worktree with our state for it:
//
//	home/lock      flock: one operation at a time
//	home/shadow/   a git folder of our own: its configuration and attributes are ours, its objects the repository's
//	home/index     the private index: the last snapshot's files with their stat data
//	home/meta.json what the private index holds, as long as it is referenced; missing while it may not be trusted
//	home/stamp     what the shadow's configuration was made from
type worktree struct {
	git.Worktree
	git   *git.Git
	locks *locks
	home  string
	state string // the Store's folder
	trees string // the folder with our worktrees
	below string // where the project holds this other repository, "" for its own and for one elsewhere
	set   settings
}

// settings are what of the person's configuration decides which files count and how they are read.
type settings struct {
	Excludes  string `json:"excludes"`  // core.excludesFile, "" for git's default
	FileMode  bool   `json:"fileMode"`  // the file system keeps the executable bit
	Symlinks  bool   `json:"symlinks"`  // … and symbolic links
	Ignore    bool   `json:"ignore"`    // … and upper and lower case are the same to it
	Compose   bool   `json:"compose"`   // … and it decomposes Unicode names
	Shared    string `json:"shared"`    // core.sharedRepository
	Format    string `json:"format"`    // hash: "sha1", "sha256"
	Sparse    bool   `json:"sparse"`    // core.sparseCheckout
	Partial   bool   `json:"partial"`   // a partial clone: blobs that were never checked out may be missing
	Origins   []file `json:"origins"`   // the files that this was read from, and those that would count
	Worktrees bool   `json:"worktrees"` // core.worktree is set: a submodule or the like
}

// file is a file with what shows that it was changed.
type file struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"` // -1 when it is missing
	MTime int64  `json:"mtime"`
	Inode uint64 `json:"inode"`
}

func stampOf(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		return file{Path: path, Size: -1}
	}
	return file{Path: path, Size: info.Size(), MTime: info.ModTime().UnixNano(), Inode: inode(info)}
}

func (w *worktree) index() string  { return filepath.Join(w.home, "index") }
func (w *worktree) shadow() string { return filepath.Join(w.home, "shadow") }
func (w *worktree) meta() string   { return filepath.Join(w.home, "meta.json") }
func (w *worktree) stamp() string  { return filepath.Join(w.home, "stamp") }

// commonState holds what belongs to the repository and not to one worktree.
func (w *worktree) commonState() string { return filepath.Dir(w.home) }

// private makes git see the worktree through our own git folder and index.
func (w *worktree) private() []string {
	return []string{
		"GIT_DIR=" + w.shadow(),
		"GIT_WORK_TREE=" + w.Root,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(w.Common, "objects"),
		"GIT_INDEX_FILE=" + w.index(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
	}
}

// view is a frozen view of the repository, with what its own configuration said when w.set was read: what git runs
// by it, later or then, does not run for us.
func (w *worktree) view() string { return filepath.Join(w.home, "view") }

// ours runs git through our own git folder, theirs with the person's.
func (w *worktree) ours(ctx context.Context, c git.Call) ([]byte, error) {
	c.Dir, c.Env = w.Root, append(w.private(), c.Env...)
	return w.git.Run(ctx, c)
}

func (w *worktree) theirs(ctx context.Context, c git.Call) ([]byte, error) {
	if !w.viewed() { // a worktree that is only put right
		if err := w.freeze(ctx); err != nil {
			return nil, err
		}
	}
	c.Dir, c.Env = w.Root, append(w.In(w.view()), c.Env...)
	return w.git.Run(ctx, c)
}

// live runs git with the repository as it is, for what starts no program whatever that says.
func (w *worktree) live(ctx context.Context, c git.Call) ([]byte, error) {
	c.Dir, c.Env = w.Root, append(w.Env(), c.Env...)
	return w.git.Run(ctx, c)
}

// viewed reports whether there is a view that is whole, of the repository where it is now.
func (w *worktree) viewed() bool {
	to, err := os.Readlink(filepath.Join(w.view(), "objects"))
	return err == nil && to == filepath.Join(w.Common, "objects") && git.Frozen(w.view())
}

// freeze makes the view, or brings it up to date.
func (w *worktree) freeze(ctx context.Context) error {
	own, err := w.git.ReadOwn(ctx, w.Worktree)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.view(), 0o700); err != nil {
		return err
	}
	_, err = own.Freeze(w.view(), false)
	return err
}

// noObject is the id of nothing, as long as the repository's ids are.
func (w *worktree) noObject() string {
	if w.set.Format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// prepare makes the state folder and brings the shadow's configuration up to date.
func (w *worktree) prepare(ctx context.Context) error {
	b, err := os.ReadFile(w.stamp())
	if err == nil && json.Unmarshal(b, &w.set) == nil && w.set.fresh() && w.whole() {
		return nil
	}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		return err
	}
	if w.below != "" { // the next start finds the repository by this
		if err := writeFile(filepath.Join(w.commonState(), "root"), []byte(w.below), true); err != nil {
			return err
		}
	}
	if w.set, err = w.readSettings(ctx); err != nil {
		return err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := w.freeze(ctx); err != nil {
		return err
	}
	return w.writeShadow()
}

func (s settings) fresh() bool {
	for _, f := range s.Origins {
		if stampOf(f.Path) != f {
			return false
		}
	}
	return len(s.Origins) > 0
}

func (w *worktree) readSettings(ctx context.Context) (settings, error) {
	out, err := w.live(ctx, git.Call{Args: []string{"config", "--list", "--show-origin", "-z", "--includes"}})
	if err != nil {
		return settings{}, fmt.Errorf("read configuration: %w", err)
	}
	s := settings{FileMode: true, Symlinks: true, Format: "sha1"}
	origins := map[string]bool{
		filepath.Join(w.Common, "config"):          true,
		filepath.Join(w.GitDir, "config.worktree"): true,
	}
	for _, env := range w.git.Env() {
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
				from = filepath.Join(w.Root, from)
			}
			origins[from] = true
		}
		key, value, valued := strings.Cut(string(fields[i+1]), "\n")
		s.read(key, value, !valued || truth(value))
	}
	for path := range origins {
		s.Origins = append(s.Origins, stampOf(path))
	}
	slices.SortFunc(s.Origins, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
	if s.Excludes != "" {
		s.Excludes = expandHome(s.Excludes, w.git.Env())
	}
	return s, nil
}

func (s *settings) read(key, value string, yes bool) {
	switch key {
	case "core.excludesfile":
		s.Excludes = value
	case "core.filemode":
		s.FileMode = yes
	case "core.symlinks":
		s.Symlinks = yes
	case "core.ignorecase":
		s.Ignore = yes
	case "core.precomposeunicode":
		s.Compose = yes
	case "core.sharedrepository":
		s.Shared = value
	case "core.sparsecheckout":
		s.Sparse = yes
	case "extensions.objectformat":
		s.Format = strings.ToLower(value)
	case "core.worktree":
		s.Worktrees = true
	case "extensions.partialclone":
		s.Partial = true
	default:
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") {
			s.Partial = s.Partial || yes
		}
	}
}

// truth reads a boolean as git does, numbers other than 0 included.
func truth(v string) bool {
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

func expandHome(path string, env []string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	for _, kv := range env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			path = filepath.Join(home, rest)
		}
	}
	return path
}

// attributes stand above every .gitattributes: what is on the disk is what is kept.
const attributes = "* -text !eol -filter -ident !working-tree-encoding -crlf\n"

// writeShadow makes the git folder of our own. The caller holds the lock.
func (w *worktree) writeShadow() error {
	if err := os.Remove(w.stamp()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(w.shadow(), dir), 0o700); err != nil {
			return err
		}
	}
	exclude := filepath.Join(w.shadow(), "info/exclude")
	if err := os.Remove(exclude); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Join(w.Common, "info/exclude"), exclude); err != nil {
		return err
	}
	for name, text := range w.set.shadow() {
		if err := writeFile(filepath.Join(w.shadow(), name), []byte(text), false); err != nil {
			return err
		}
	}
	b, err := json.Marshal(w.set)
	if err != nil {
		return err
	}
	return writeFile(w.stamp(), b, false)
}

// shadow is what the files of our own git folder hold.
func (s settings) shadow() map[string]string {
	return map[string]string{"HEAD": "ref: refs/heads/orchestrator\n", "info/attributes": attributes, "config": s.config()}
}

// whole reports whether our own git folder is as it was written: a power cut may have emptied its files, which are
// not synced.
func (w *worktree) whole() bool {
	if !w.viewed() {
		return false
	}
	for name, text := range w.set.shadow() {
		if b, err := os.ReadFile(filepath.Join(w.shadow(), name)); err != nil || string(b) != text {
			return false
		}
	}
	return true
}

func (s settings) config() string {
	var b strings.Builder
	version := 0
	if s.Format != "sha1" {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = false\n\tfileMode = %t\n\tsymlinks = %t\n"+
		"\tignoreCase = %t\n\tprecomposeUnicode = %t\n", version, s.FileMode, s.Symlinks, s.Ignore, s.Compose)
	b.WriteString("\tautocrlf = false\n\tsafecrlf = false\n\tuntrackedCache = false\n\tfsmonitor = false\n")
	if s.Excludes != "" {
		fmt.Fprintf(&b, "\texcludesFile = %s\n", quote(s.Excludes))
	}
	if s.Shared != "" {
		fmt.Fprintf(&b, "\tsharedRepository = %s\n", quote(s.Shared))
	}
	if s.Format != "sha1" {
		fmt.Fprintf(&b, "[extensions]\n\tobjectFormat = %s\n", quote(s.Format))
	}
	return b.String()
}

// quote writes a value for git's configuration file.
func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
}

// held is what the private index holds, written once a ref keeps it.
type held struct {
	Thread thread.ID `json:"thread"`
	Ref    string    `json:"ref"`
	Commit string    `json:"commit"`
	Tree   string    `json:"tree"`
	Base   string    `json:"base"`
	About  About     `json:"about,omitzero"`
}

// holds returns what the private index holds; false when it may not be trusted.
func (w *worktree) holds() (held, bool) {
	var h held
	b, err := os.ReadFile(w.meta())
	if err != nil || json.Unmarshal(b, &h) != nil || !git.IsObjectID(h.Commit) || !git.IsObjectID(h.Tree) {
		return held{}, false
	}
	return h, true
}

func (w *worktree) hold(h held) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return writeFile(w.meta(), b, false)
}

// distrust makes the next snapshot build the private index anew unless this one ends well: what it names may
// be kept by no ref, and the person's git may prune it.
func (w *worktree) distrust() error {
	if err := os.Remove(w.meta()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
