package snapshot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// FileLines is how a file differs between two states of a worktree, in lines. Modified is the sum over its hunks of the
// smaller of the lines that they add and delete; Added and Deleted count the rest.
type FileLines struct {
	Path, OldPath string // in the repository; OldPath is set for renames
	Status        byte   // of git: A, D, M, R, T; 0 if it does not differ
	Mode          string // of the newer state, "" if it is gone there
	Blob          string // likewise
	Bytes         int64
	Binary        bool

	Added, Modified, Deleted int
}

// Lines is how two states of a worktree differ.
type Lines struct {
	Files []FileLines // by path
	Total int         // of those that differ; Files may have fewer
	// Skipped are files of the current worktree that are too large or that git cannot store: they are not compared.
	Skipped []thread.Skip
}

// Counter counts the lines that differ between states of worktrees.
type Counter struct{ store *Store }

// NewCounter returns the Counter of a store's worktrees.
func NewCounter(s *Store) Counter { return Counter{s} }

// Count compares two states of dir's worktree as Diff does, and writes as little. Beside what differs it returns the
// files with these paths that do not. Of more than most files that differ it compares the first, 0 for all.
func (c Counter) Count(ctx context.Context, dir, from, to string, paths []string, most int) (Lines, error) {
	l, err := c.count(ctx, dir, from, to, paths, most)
	if err != nil {
		return Lines{}, fmt.Errorf("count the lines that changed: %w", err)
	}
	return l, nil
}

func (c Counter) count(ctx context.Context, dir, from, to string, paths []string, most int) (Lines, error) {
	w, err := c.store.open(ctx, dir)
	if err != nil {
		return Lines{}, err
	}
	v, err := openView(ctx, w, to == "", c.store.cfg.Limit)
	if err != nil {
		return Lines{}, err
	}
	defer v.close()
	if from == "" {
		from = v.empty()
	}
	a, err := v.side(ctx, from)
	if err != nil {
		return Lines{}, err
	}
	b, err := v.side(ctx, to)
	if err != nil {
		return Lines{}, err
	}
	l := Lines{Skipped: v.skipped}
	if a != b {
		if err := v.count(ctx, a, b, paths, most, &l); err != nil {
			return Lines{}, err
		}
	}
	if err := v.unchanged(ctx, b, paths, &l); err != nil {
		return Lines{}, err
	}
	return l, v.measure(ctx, l.Files)
}

// count compares two trees.
func (v *view) count(ctx context.Context, a, b string, paths []string, most int, l *Lines) error {
	files, err := v.differing(ctx, a, b, nil)
	if err != nil {
		return err
	}
	same, err := v.equivalent(ctx, a, b)
	if err != nil {
		return err
	}
	l.Total = len(files) - len(same)
	var only []string
	if most > 0 && len(files) > most {
		only = chosen(files, paths, most)
		if files, err = v.differing(ctx, a, b, only); err != nil {
			return err
		}
	}
	counts, err := v.hunks(ctx, a, b, only)
	if err != nil {
		return err
	}
	for _, f := range files {
		take := 1
		if f.Status == 'T' {
			take = 2 // git writes it as one file removed and another one added
		}
		if len(counts) < take {
			return fmt.Errorf("git diff-tree wrote fewer patches than files")
		}
		for _, c := range counts[:take] {
			f.Added, f.Modified, f.Deleted, f.Binary = f.Added+c.added, f.Modified+c.modified, f.Deleted+c.deleted, f.Binary || c.binary
		}
		counts = counts[take:]
		if !same[f.Path] {
			l.Files = append(l.Files, f)
		}
	}
	if len(counts) > 0 {
		return fmt.Errorf("git diff-tree wrote more patches than files")
	}
	return nil
}

// mostArguments is how many bytes of paths a git is given: less than what the kernel lets it have.
const mostArguments = 1 << 20

// chosen returns the paths of those files that have one of these paths, and of the first others, up to most.
func chosen(files []FileLines, paths []string, most int) []string {
	named := map[string]bool{}
	for _, p := range paths {
		named[p] = true
	}
	var only []string
	room := mostArguments
	take := func(first bool) {
		for _, f := range files {
			if named[f.Path] != first || most <= 0 || room < len(f.Path)+len(f.OldPath) {
				continue
			}
			room -= len(f.Path) + len(f.OldPath) + 2
			only = append(only, f.Path)
			if f.OldPath != "" {
				only = append(only, f.OldPath)
			}
			most--
		}
	}
	take(true)
	take(false)
	return only
}

// compare are the arguments with which two trees are compared. Settings of the repository's do not change what it says.
func (v *view) compare(a, b string, only []string, how ...string) git.Call {
	args := append([]string{"diff-tree", "-r", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--ignore-submodules=dirty", "--no-abbrev", "--diff-algorithm=myers"}, how...)
	args = append(args, "--end-of-options", a, b, "--")
	return git.Call{Args: append(args, only...), Env: append(v.env[:len(v.env):len(v.env)], "GIT_LITERAL_PATHSPECS=1")}
}

// differing lists the files that differ, all or only those with some paths.
func (v *view) differing(ctx context.Context, a, b string, only []string) ([]FileLines, error) {
	out, err := v.w.work.Ours(ctx, v.compare(a, b, only, "-z", "--raw"))
	if err != nil {
		return nil, err
	}
	return parseLines(out)
}

// hunks counts the lines of the same files, in the same order.
func (v *view) hunks(ctx context.Context, a, b string, only []string) ([]lineCount, error) {
	var h hunkReader
	// Without -z, so that a name with a newline is quoted and no line of it looks like a header.
	call := v.compare(a, b, only, "-p", "-U0", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")
	call.Stdout = &h
	if _, err := v.w.work.Ours(ctx, call); err != nil {
		return nil, err
	}
	return h.counts, h.err
}

// parseLines parses `diff-tree --raw -z -M`: ":mode mode oid oid S\0path\0", with a second path for renames.
func parseLines(raw []byte) ([]FileLines, error) {
	var files []FileLines
	f := git.Fields(raw)
	for i := 0; i < len(f); {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 || i+1 >= len(f) {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		one := FileLines{Path: f[i+1], Status: head[4][0], Mode: head[1], Blob: head[3]}
		i += 2
		switch one.Status {
		case 'D':
			one.Mode, one.Blob = "", ""
		case 'R':
			if i >= len(f) {
				return nil, fmt.Errorf("git diff-tree wrote a rename without its target")
			}
			one.OldPath, one.Path = one.Path, f[i]
			i++
		}
		files = append(files, one)
	}
	return files, nil
}

// unchanged adds those of some paths that a tree has and that do not differ.
func (v *view) unchanged(ctx context.Context, tree string, paths []string, l *Lines) error {
	differs := map[string]bool{}
	for _, f := range l.Files {
		differs[f.Path] = true
	}
	var ask []string
	for _, p := range paths {
		if p != "" && !differs[p] {
			ask = append(ask, p)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	out, err := v.w.work.Ours(ctx, git.Call{
		Args: append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, ask...),
		Env:  append(v.env[:len(v.env):len(v.env)], "GIT_LITERAL_PATHSPECS=1"),
	})
	if err != nil {
		return err
	}
	for _, line := range git.Fields(out) {
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head) // mode type oid
		if len(f) != 3 {
			return fmt.Errorf("git ls-tree wrote %q", git.Printable(line))
		}
		if f[1] != "tree" {
			l.Files = append(l.Files, FileLines{Path: path, Mode: f[0], Blob: f[2]})
		}
	}
	return nil
}

// measure fills in the sizes of files.
func (v *view) measure(ctx context.Context, files []FileLines) error {
	var in strings.Builder
	for _, f := range files {
		if f.Blob != "" && f.Mode != repository.ModeRepo {
			in.WriteString(f.Blob + "\n")
		}
	}
	if in.Len() == 0 {
		return nil
	}
	out, err := v.w.work.Ours(ctx, git.Call{
		Args:  []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"},
		Stdin: strings.NewReader(in.String()), Env: v.env,
	})
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "blob" {
			continue // "<oid> missing", in a partial clone
		}
		if n, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			sizes[f[0]] = n
		}
	}
	for i, f := range files {
		files[i].Bytes = sizes[f.Blob]
	}
	return nil
}
