package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
)

// Merges has the use cases that merge threads into other branches, finish threads and push.
type Merges struct {
	cfg      *Config
	past     past.Reader
	bus      *events.Bus
	work     *work
	notices  *notices
	intents  *intents
	merging  *exclusive
	registry *registry
	life     *Lifecycle
}

// mergeIntent is a merge in progress, or one that waits for a person to resolve its conflicts.
type mergeIntent struct {
	Into   thread.ID `json:"into,omitempty"` // empty for the project's own folder
	Dir    string    `json:"dir"`
	Branch string    `json:"branch"`
	Target string    `json:"target"` // branch checked out in Dir
	Tell   bool      `json:"tell"`   // send the target's agent a note
	Ask    bool      `json:"ask,omitempty"`
	Finish bool      `json:"finish"`
	// Commit is set if uncommitted changes in Dir are to be committed first.
	Commit bool `json:"commit,omitempty"`
}

// mergeLimit bounds how long git and the person's programs that it starts, such as a signer, may take for a merge.
const mergeLimit = 10 * time.Minute

// closeGrace is how long they may go on when the server stops.
const closeGrace = 2 * time.Second

// The reasons why git is ended.
var (
	errGone = errors.New("it was cancelled")
	errSlow = fmt.Errorf("it took longer than %v", mergeLimit)
)

// detached runs a use case that spans several threads to a state from which nothing is lost, whatever becomes of the
// client. Git, with the programs of the person that it starts, goes on only as long as the client waits for it.
func (m *Merges) detached(
	ctx context.Context, what string, threads []thread.ID,
	run func(ctx, git context.Context) (thread.MergeReport, error),
) (thread.MergeReport, error) {
	if !m.work.begin() {
		return thread.MergeReport{}, errClosed
	}
	type result struct {
		report thread.MergeReport
		err    error
	}
	git, cancel := m.work.whileWaited(ctx)
	done := make(chan result, 1)
	go func() {
		defer m.work.done()
		defer cancel()
		release, err := m.merging.take(git, what, threads...)
		if err != nil {
			done <- result{err: err}
			return
		}
		defer release()
		report, err := run(m.work.ctx, git)
		done <- result{report, err}
	}()
	r := <-done
	return r.report, r.err
}

// whileWaited is the context of git for a client's call: it ends with the call, with its time, or when the server stops.
func (w *work) whileWaited(ctx context.Context) (git context.Context, end context.CancelFunc) {
	waited, cancel := context.WithCancelCause(w.ctx)
	limited, stop := context.WithTimeoutCause(waited, mergeLimit, errSlow)
	go func() { // ends with the use case
		select {
		case <-ctx.Done():
			cancel(errGone)
		case <-w.closing.Done():
			time.AfterFunc(closeGrace, func() { cancel(errClosed) })
		case <-waited.Done():
		}
	}()
	return limited, func() { stop(); cancel(nil) }
}

// mergeTarget finds the target of a merge; the run is nil for the project's own folder.
func (m *Merges) mergeTarget(
	ctx context.Context, child *run, r thread.MergeRequest,
) (_ mergeIntent, _ *run, err error) {
	t := child.live.thread()
	if m.cfg.Merges == nil {
		return mergeIntent{}, nil, thread.ErrNoRepository
	}
	if t.Worktree.Path == "" {
		return mergeIntent{}, nil, thread.Kindf(thread.ErrRefused, "nothing to merge: it works in %s itself", t.Dir)
	}
	in := mergeIntent{Dir: m.cfg.Project, Branch: t.Worktree.Branch, Finish: r.Finish, Commit: r.CommitInto}
	if in.Tell, in.Ask, err = m.noteMode(r.Note); err != nil {
		return in, nil, err
	}
	var target *run
	switch {
	case r.Into != "":
		l, err := m.registry.find(r.Into)
		if err != nil {
			return in, nil, err
		}
		target = l
	case t.Parent != "":
		if target, err = m.registry.certain(ctx, t.Parent); err != nil {
			return in, nil, err
		}
		if target != nil && !target.live.thread().Deleted.IsZero() {
			target = nil // what remains is the project's folder
		}
	}
	if target == child {
		return in, nil, thread.Kindf(thread.ErrInvalid, "into itself")
	}
	if target != nil {
		in.Into, in.Dir = target.live.id, m.cfg.rootOf(target.live.thread())
	}
	branch, err := m.cfg.Merges.Branch(ctx, in.Dir)
	switch {
	case errors.Is(err, thread.ErrNotFound) && target != nil:
		return in, nil, thread.Hint(err,
			"resume "+target.live.thread().Name+", which recreates its folder, or merge into another thread")
	case err != nil:
		return in, nil, err
	}
	if branch == "" {
		return in, nil, thread.Hint(thread.Kindf(thread.ErrRefused, "%s is on no branch", in.Dir),
			"check out a branch there first")
	}
	in.Target = branch
	return in, target, nil
}

// noteMode reports whether the target's agent is told about a merge, and otherwise whether to ask the person.
func (m *Merges) noteMode(wanted thread.NoteMode) (tell, ask bool, err error) {
	if wanted == "" {
		wanted = m.cfg.MergeNote
	}
	switch wanted {
	case thread.NoteAlways:
		return true, false, nil
	case thread.NoteNever:
		return false, false, nil
	case thread.NoteAsk, "":
		return false, true, nil
	}
	return false, false, fmt.Errorf("note %q: must be %s, %s or %s: %w",
		string(wanted), thread.NoteAlways, thread.NoteNever, thread.NoteAsk, thread.ErrInvalid)
}

// branchOf returns the branch that a thread's work is on: its own, or another one that its agent checked out.
func (m *Merges) branchOf(ctx context.Context, t thread.Thread) (string, error) {
	branch, err := m.cfg.Merges.Branch(ctx, t.Worktree.Path)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return t.Worktree.Branch, nil // the folder is gone: whoever needs it reports that
	case err != nil:
		return "", err
	case branch == "":
		return "", thread.Hint(thread.Kindf(thread.ErrRefused, "its worktree %s is on no branch", t.Worktree.Path),
			"git -C "+t.Worktree.Path+" switch -c NAME")
	}
	return branch, nil
}

// mergeReport starts the report of a merge: source, target, and the other threads in these folders.
func (m *Merges) mergeReport(child *run, in mergeIntent) thread.MergeReport {
	there := thread.Thread{ID: in.Into, Dir: in.Dir}
	if into := m.registry.run(in.Into); into != nil {
		there.Worktree = into.live.thread().Worktree
	}
	t := child.live.thread()
	shared := m.registry.index.besides(t)
	beside := slices.DeleteFunc(m.registry.index.besides(there), func(name string) bool {
		return name == t.Name || slices.Contains(shared, name)
	})
	return thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir, Shared: shared, Beside: beside}
}

// openMerge finds the merge of a thread that waits for a person.
func (m *Merges) openMerge(ctx context.Context, child *run) (thread.Intent, mergeIntent, error) {
	if m.cfg.Merges == nil {
		return thread.Intent{}, mergeIntent{}, thread.ErrNoRepository
	}
	all, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return thread.Intent{}, mergeIntent{}, err
	}
	for _, i := range all {
		if i.Kind != intentMerge || i.Thread != child.live.id {
			continue
		}
		var in mergeIntent
		if err := json.Unmarshal(i.Data, &in); err != nil {
			return i, in, fmt.Errorf("read the intent: %w", err)
		}
		return i, in, nil
	}
	return thread.Intent{}, mergeIntent{}, thread.Kindf(thread.ErrRefused, "no merge is in progress")
}
