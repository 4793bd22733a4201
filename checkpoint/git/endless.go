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

// ErrEndless says that git would wait at a file for ever, or read it for ever: a pipe, a device, or one that is larger
// than such a file can be. An archive can hold all of them.
var ErrEndless = errors.New("git would never finish reading it")

const (
	// patience is how long a call may take before what it may wait at is looked for.
	patience = 400 * time.Millisecond
	// lookAgain is after how long it is looked for again while the call goes on; the waits double.
	lookAgain = 5 * time.Second
	// lookLimit is how long a look may take.
	lookLimit = 3 * time.Second
)

// The most that files of a repository can hold. One that git maps into memory is read to its end as well.
const (
	mostLine = 1 << 20  // a few lines
	mostText = 64 << 20 // written by people or for each commit
	mostData = 1 << 30
)

// known are the files that git reads at nearly every call: of a worktree's own part of a repository, and of the
// shared one.
var known = struct{ part, common map[string]int64 }{
	part: map[string]int64{
		"HEAD": mostLine, "commondir": mostLine, "gitdir": mostLine, "locked": mostLine, "config.worktree": mostText, "index": mostData,
		"MERGE_HEAD": mostLine, "MERGE_MODE": mostLine, "MERGE_MSG": mostText, "ORIG_HEAD": mostLine, "CHERRY_PICK_HEAD": mostLine,
		"REVERT_HEAD": mostLine, "AUTO_MERGE": mostLine, "SQUASH_MSG": mostText, "FETCH_HEAD": mostText, "info/sparse-checkout": mostText,
		"logs/HEAD": mostData,
	},
	common: map[string]int64{
		"HEAD": mostLine, "config": mostText, "packed-refs": mostData, "shallow": mostText,
		"info/exclude": mostText, "info/attributes": mostText, "info/grafts": mostText, "info/refs": mostData,
		"objects/info/alternates": mostLine, "objects/info/commit-graph": mostData, "objects/info/packs": mostText,
		"objects/pack/multi-pack-index": mostData,
	},
}

// Sound reports an error where a file that git reads at nearly every call never ends. It opens nothing.
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

// ends reports an error for a file that is there and cannot be read to its end. What a link leads to counts.
func ends(path string, most int64) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil // git says what is wrong with it
	case special(info):
		return endless(path, "a "+kind(info.Mode()))
	case info.Mode().IsRegular() && info.Size() > most:
		return endless(path, fmt.Sprintf("%d MB large", info.Size()>>20))
	}
	return nil
}

// special reports whether opening or reading a file may wait for ever.
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
	return thread.Hint(fmt.Errorf("%s is %s: %w", Printable(path), what, ErrEndless), "look at it, and remove it or move it away")
}

// watch ends a call that waits at something that never ends: once it has taken longer than calls do, the repository
// and the files that git reads in every folder of the worktree are looked through.
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

// findEndless looks for a file that a git which runs in a folder may wait at, for a while.
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

// walk looks at the files below a folder that have a name.
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

// named are the files that the repository's own configuration has git read, as far as a look at its text tells.
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
		default: // an included file lies beside the configuration, the others below the worktree
			paths = append(paths, filepath.Join(w.Common, value), filepath.Join(w.Root, value))
		}
	}
	return paths
}
