package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Known is what the repository says about a thread: the refs of its snapshots, and the worktree that Add made for it.
type Known struct {
	About
	Thread    thread.ID
	Worktree  thread.Worktree // zero if it has none
	Dir       string          // the root of the worktree that its snapshots are of
	Snapshots int
	// First and Last are the times of the oldest and the newest snapshot.
	First, Last time.Time
}

// Known returns the threads that have snapshots or worktrees, oldest first. What a repository says about its threads is
// untrusted: callers must check that a thread belongs to the project.
func (s *Store) Known(ctx context.Context) ([]Known, error) {
	all := map[thread.ID]*Known{}
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		refs, err := repo.Refs(ctx, repository.Namespace)
		if err != nil {
			return err
		}
		byThread := map[thread.ID]map[string]string{}
		for ref, commit := range refs {
			id, _, ok := strings.Cut(strings.TrimPrefix(ref, repository.Namespace), "/")
			if !ok || repository.CheckID(thread.ID(id)) != nil || repository.RefNumber(ref) == 0 {
				continue
			}
			if byThread[thread.ID(id)] == nil {
				byThread[thread.ID(id)] = map[string]string{}
			}
			byThread[thread.ID(id)][ref] = commit
		}
		for id, refs := range byThread {
			list, err := taken(ctx, repo, refs)
			if err != nil {
				return err
			}
			if k := known(id, list); k.Snapshots+len(k.Parent) > 0 && all[id] == nil {
				k.Dir = repo.Git.Root
				all[id] = &k
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find threads in the repository: %w", err)
	}
	made, err := s.found.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("find threads in the repository: %w", err)
	}
	for _, e := range made {
		k := all[e.Thread]
		if k == nil {
			k = &Known{Thread: e.Thread}
			all[e.Thread] = k
		}
		k.Worktree, k.Dir = e.Worktree, e.Path
		if k.Name == "" {
			k.Name = strings.TrimPrefix(e.Branch, repository.BranchPrefix)
		}
	}
	var list []Known
	for _, k := range all {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b Known) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Thread, b.Thread))
	})
	return list, nil
}

// known is what a thread's snapshots say about it.
func known(id thread.ID, list []Taken) Known {
	k := Known{Thread: id}
	for _, one := range list {
		if one.of != id { // its fork point's
			if k.Snapshots == 0 && k.Parent == "" {
				k.Parent = one.of
			}
			continue
		}
		if k.Snapshots++; k.Snapshots == 1 {
			k.First = one.From
		}
		k.Last = one.From
		if one.about != (About{}) {
			k.About = one.about
		}
	}
	return k
}

// Taken is a snapshot that a ref of its thread keeps.
type Taken struct {
	thread.Snapshot
	// It was taken at From or later, and before Until.
	From, Until time.Time

	of    thread.ID // the thread that it was taken for
	about About
}

// Taken returns the snapshots that were taken for a thread and that its refs still keep, oldest first, each with its
// changes since the previous one.
func (s *Store) Taken(ctx context.Context, id thread.ID) ([]Taken, error) {
	if err := repository.CheckID(id); err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var all []Taken
	err := s.found.Each(ctx, func(repo *repository.Repository) error {
		refs, err := repo.Refs(ctx, repository.Namespace+string(id)+"/")
		if err != nil {
			return err
		}
		list, err := taken(ctx, repo, refs)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(k Taken) bool { return k.of != id })
		var prev *thread.Snapshot
		for i := range list {
			if err := count(ctx, repo, &list[i].Snapshot, prev); err != nil {
				return err
			}
			prev = &list[i].Snapshot
		}
		all = append(all, list...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	return all, nil
}

// taken reads the commits of a thread's refs, in the order of the refs; those that are not snapshots are left out.
func taken(ctx context.Context, repo *repository.Repository, refs map[string]string) ([]Taken, error) {
	names := make([]string, 0, len(refs))
	for ref := range refs {
		names = append(names, ref)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(repository.RefNumber(a), repository.RefNumber(b)) })
	var in strings.Builder
	for _, ref := range names {
		in.WriteString(refs[ref] + "\n")
	}
	if len(names) == 0 {
		return nil, nil
	}
	out, err := repo.Ours(ctx, git.Call{Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	var list []Taken
	for text := string(out); text != ""; {
		line, rest, ok := strings.Cut(text, "\n")
		head := strings.Fields(line)
		if !ok || len(head) < 2 {
			return nil, fmt.Errorf("git cat-file wrote %q", git.Printable(line))
		}
		if len(head) != 3 { // "<id> missing"
			text = rest
			continue
		}
		size, err := strconv.Atoi(head[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file wrote %q", git.Printable(line))
		}
		if k, ok := readTaken(head[0], rest[:size]); ok && head[1] == "commit" && repository.CheckID(k.of) == nil {
			list = append(list, k)
		}
		text = rest[size+1:]
	}
	return list, nil
}

// readTaken parses the text of a commit; false if it is not a snapshot.
func readTaken(id, text string) (k Taken, ok bool) {
	head, message, _ := strings.Cut(text, "\n\n")
	_, message, _ = strings.Cut(message, "\n\n") // after its first line
	var n note
	if json.Unmarshal([]byte(message), &n) != nil || n.Version != 1 {
		return k, false
	}
	k.of, k.about, k.Commit, k.Base, k.Skipped = n.Thread, n.About, id, n.Base, n.Skipped
	var when int64
	for line := range strings.Lines(head) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "tree":
			k.Tree = value
		case "committer": // name <address> seconds zone
			if f := strings.Fields(value); len(f) > 2 {
				when, _ = strconv.ParseInt(f[len(f)-2], 10, 64) // 0 if it is not a number
			}
		}
	}
	k.From, k.Until = time.Unix(when, 0).UTC(), time.Unix(when+1, 0).UTC()
	if !n.At.IsZero() {
		k.From, k.Until = n.At, n.At
	}
	return k, git.IsObjectID(k.Tree) && (k.Base == "" || git.IsObjectID(k.Base))
}
