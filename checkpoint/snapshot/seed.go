package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread/failpoint"
)

// seed builds the private index from the person's, so that git need not read every file to see that it is unchanged. An
// entry whose stat data does not prove that its bytes are the blob's, byte for byte, loses the stat data.
func (w files) seed(ctx context.Context) error {
	if err := w.work.Invalidate(); err != nil {
		return fmt.Errorf("seed index: %w", err)
	}
	for _, name := range []string{w.work.Index(), w.work.Index() + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("seed index: %w", err)
		}
	}
	failpoint.Hit("snapshot.seed.begin")
	entries, copied, err := w.seedFrom(ctx)
	if err != nil {
		return fmt.Errorf("seed index: %w", err)
	}
	doubt, err := w.uncertain(ctx, entries, copied)
	if err != nil {
		return fmt.Errorf("seed index: %w", err)
	}
	if err := w.rewrite(ctx, doubt); err != nil {
		return fmt.Errorf("seed index: %w", err)
	}
	return nil
}

// seedFrom copies the person's index if git can read the copy. If it cannot (a split index, a future version) only
// names and ids are used.
func (w files) seedFrom(ctx context.Context) (entries []repository.Entry, copied bool, err error) {
	list := git.Call{Args: []string{"ls-files", "-v", "-s", "-z"}}
	switch err = git.CopyIndex(filepath.Join(w.work.Git.GitDir, "index"), w.work.Index()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil // nothing was added yet
	case err != nil:
		return nil, false, err
	}
	if out, err := w.work.Ours(ctx, list); err == nil {
		entries, err = repository.ParseEntries(out)
		return entries, true, err
	} else if ctx.Err() != nil {
		return nil, false, err
	}
	if err := os.Remove(w.work.Index()); err != nil {
		return nil, false, err
	}
	out, err := w.work.Theirs(ctx, list)
	if err != nil {
		return nil, false, err
	}
	entries, err = repository.ParseEntries(out)
	return entries, false, err
}

// uncertain returns lines for `update-index --index-info` that remove the stat data of entries that must be read.
func (w files) uncertain(ctx context.Context, entries []repository.Entry, copied bool) ([]byte, error) {
	sizes, err := w.work.Repo.BlobSizes(ctx, entries)
	if err != nil {
		return nil, err
	}
	converted, err := w.converted(ctx, entries)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, e := range entries {
		if e.Stage != "0" || git.IsForeign(e.Path) {
			// A merge stopped here: without an entry the file counts as untracked and is read as it is. Or it is not ours to
			// store.
			fmt.Fprintf(&out, "0 %s\t%s\x00", strings.Repeat("0", len(e.OID)), e.Path)
			continue
		}
		if !copied || w.mayDiffer(e, sizes, converted) {
			fmt.Fprintf(&out, "%s %s 0\t%s\x00", e.Mode, e.OID, e.Path)
		}
	}
	return out.Bytes(), nil
}

func (w files) mayDiffer(e repository.Entry, sizes map[string]int64, converted map[string]bool) bool {
	info, err := os.Lstat(filepath.Join(w.work.Git.Root, e.Path))
	switch {
	case e.Tag >= 'a' && e.Tag <= 'z': // "assume unchanged": we assume nothing
		return true
	case e.Tag == 'S': // left out by a sparse checkout, unless it exists all the same
		return err == nil
	case err != nil || e.Mode == repository.ModeRepo:
		return false // git notices by itself that it is gone or newer
	}
	size, have := sizes[e.OID]
	return !have || size != info.Size() || converted[e.Path]
}

// converted returns the files that git would convert, as far as the size does not tell.
func (w files) converted(ctx context.Context, entries []repository.Entry) (map[string]bool, error) {
	var in bytes.Buffer
	for _, e := range entries {
		if e.Mode != repository.ModeRepo && e.Mode != repository.ModeLink {
			in.WriteString(e.Path + "\x00")
		}
	}
	found := map[string]bool{}
	if in.Len() == 0 {
		return found, nil
	}
	out, err := w.work.Theirs(ctx, git.Call{
		Args:  []string{"check-attr", "-z", "--stdin", "filter", "working-tree-encoding"},
		Stdin: &in,
	})
	if err != nil {
		return nil, err
	}
	f := bytes.Split(out, []byte{0})
	for i := 0; i+2 < len(f); i += 3 {
		if v := string(f[i+2]); v != "unspecified" && v != "unset" {
			found[string(f[i])] = true
		}
	}
	return found, nil
}

// rewrite passes lines to `update-index --index-info`.
func (w files) rewrite(ctx context.Context, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := w.work.Ours(ctx, git.Call{
		Args:  []string{"update-index", "-z", "--index-info"},
		Stdin: bytes.NewReader(lines), Durable: true,
	})
	return err
}
