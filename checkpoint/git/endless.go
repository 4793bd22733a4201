package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// ErrEndless means that git would block at a file, or read it forever: a pipe, a device, or a file that is larger than
// it can be. An archive can contain all of them.
var ErrEndless = errors.New("git would never finish reading it")

const (
	// patience is how long a call may take before we search for a file that may block it.
	patience = 400 * time.Millisecond
	// lookAgain is the delay before the search is repeated while the call continues; the delays double.
	lookAgain = 5 * time.Second
	// lookLimit is how long a search may take.
	lookLimit = 3 * time.Second
)

// The maximum sizes of a repository's files. Git also reads files completely that it maps into memory.
const (
	mostLine = 1 << 20  // a few lines
	mostText = 64 << 20 // written by people or for each commit
	mostData = 1 << 30
)

// known are the files that git reads at nearly every call: of a worktree's own part of a repository, and of the shared
// part.
var known = struct{ part, common map[string]int64 }{
	part: map[string]int64{
		"HEAD": mostLine, "commondir": mostLine, "gitdir": mostLine, "locked": mostLine, "config.worktree": mostText,
		"index": mostData, "MERGE_HEAD": mostLine, "MERGE_MODE": mostLine, "MERGE_MSG": mostText, "ORIG_HEAD": mostLine,
		"CHERRY_PICK_HEAD": mostLine, "REVERT_HEAD": mostLine, "AUTO_MERGE": mostLine, "SQUASH_MSG": mostText,
		"FETCH_HEAD": mostText, "info/sparse-checkout": mostText, "logs/HEAD": mostData,
	},
	common: map[string]int64{
		"HEAD": mostLine, "config": mostText, "packed-refs": mostData, "shallow": mostText,
		"info/exclude": mostText, "info/attributes": mostText, "info/grafts": mostText, "info/refs": mostData,
		"objects/info/alternates": mostLine, "objects/info/commit-graph": mostData, "objects/info/packs": mostText,
		"objects/pack/multi-pack-index": mostData,
	},
}

// Sound returns an error if a file that git reads at nearly every call never ends. It opens nothing.
func (w Worktree) Sound() error {
	for name, most := range known.part {
		if err := ends(filepath.Join(w.GitDir, name), most); err != nil {
			return err
		}
	}
	for name, most := range known.common {
		if err := ends(filepath.Join(w.Common, name), most); err != nil {
			return err
		}
	}
	return nil
}

// ends returns an error for a file that exists and cannot be read to its end. Links are followed.
func ends(path string, most int64) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil // git reports what is wrong with it
	case special(info):
		return endless(path, "a "+kind(info.Mode()))
	case info.Mode().IsRegular() && info.Size() > most:
		return endless(path, fmt.Sprintf("%d MB large", info.Size()>>20))
	}
	return nil
}

// special reports whether opening or reading a file may block forever.
func special(info fs.FileInfo) bool {
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

func kind(mode fs.FileMode) string {
	if mode&fs.ModeNamedPipe != 0 {
		return "pipe"
	}
	return "device"
}

func endless(path, what string) error {
	return thread.Hint(fmt.Errorf("%s is %s: %w", Printable(path), what, ErrEndless),
		"check it, then remove it or move it away")
}

// watch ends a call that blocks at something that never ends: when it takes longer than usual, the repository and the
// files that git reads in every folder of the worktree are checked.
func watch(ctx context.Context, dir string) (watched context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with the context
		for wait := patience; ; wait = max(2*wait, lookAgain) {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if err := findEndless(ctx, dir); err != nil {
				cancel(err)
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// findEndless searches for a file that may block a git that runs in a folder, for a limited time.
func findEndless(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	w, err := Find(dir)
	if err != nil {
		w = Worktree{GitDir: dir, Common: dir} // a bare one
	} else if err := w.Sound(); err != nil {
		return err
	}
	for _, path := range w.named() {
		if err := ends(path, mostText); err != nil {
			return err
		}
	}
	for _, part := range slices.Compact([]string{w.Common, w.GitDir}) {
		if err := walk(ctx, part, func(string) bool { return true }); err != nil {
			return err
		}
	}
	if w.Root == "" {
		return nil
	}
	return walk(ctx, w.Root, func(name string) bool {
		return slices.Contains([]string{".gitignore", ".gitattributes", ".gitmodules"}, name)
	})
}

// walk checks the files with certain names below a folder.
func walk(ctx context.Context, dir string, has func(name string) bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case e.IsDir() && e.Name() == ".git" && path != dir:
			return fs.SkipDir
		case e.Type().IsRegular() || e.IsDir() || !has(e.Name()):
			return nil
		}
		if info, err := os.Stat(path); err == nil && special(info) {
			return endless(path, "a "+kind(info.Mode()))
		}
		return nil
	})
}

// named are the files that the repository's own configuration makes git read, as far as its text shows.
func (w Worktree) named() (paths []string) {
	text, err := private.ReadRegular(filepath.Join(w.Common, "config"), mostLine)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "path", "excludesfile", "attributesfile":
		default:
			ok = false
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case !ok || value == "":
		case filepath.IsAbs(value):
			paths = append(paths, value)
		default: // an included file is relative to the configuration, the others to the worktree
			paths = append(paths, filepath.Join(w.Common, value), filepath.Join(w.Root, value))
		}
	}
	return paths
}
