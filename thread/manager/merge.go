package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/secret"
)

// mergeIntent is a merge that is under way, or waits for a person to resolve its conflicts.
type mergeIntent struct {
	Into   thread.ID `json:"into,omitempty"` // empty for the project's own folder
	Dir    string    `json:"dir"`
	Branch string    `json:"branch"`
	Target string    `json:"target"` // branch checked out in Dir
	Tell   bool      `json:"tell"`   // send the target's agent a note
	Ask    bool      `json:"ask,omitempty"`
	Finish bool      `json:"finish"`
	// Commit is set where the person wants what is not committed in Dir to be committed before.
	Commit bool `json:"commit,omitempty"`
}

// Merge commits a thread's work and merges its branch into its parent's, or into another thread's.
// Safety checkpoints of both come first. Conflicts are left in the target's folder and listed;
// MergeContinue and MergeAbort end them. With DryRun nothing is changed.
func (m *Manager) Merge(ctx context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	child, err := m.find(r.Thread)
	if err != nil {
		return thread.MergeReport{}, err
	}
	in, target, err := m.mergeTarget(ctx, child, r)
	if err == nil {
		in.Branch, err = m.standsOn(ctx, child.thread())
	}
	if err != nil {
		return thread.MergeReport{}, fmt.Errorf("merge %s: %w", child.thread().Name, err)
	}
	if r.NoteOnly {
		report, err := m.tellMerged(ctx, child, target, in)
		if err != nil {
			return report, fmt.Errorf("tell of the merge of %s: %w", child.thread().Name, err)
		}
		return report, nil
	}
	if r.DryRun {
		report, err := m.mergePreview(ctx, child, in)
		if err != nil {
			return report, fmt.Errorf("merge %s: %w", child.thread().Name, err)
		}
		return report, nil
	}
	return m.detached(ctx, func(ctx context.Context) (thread.MergeReport, error) {
		m.merging.Lock()
		defer m.merging.Unlock()
		report, err := m.merge(ctx, child, target, in, r.Message)
		if err != nil {
			return report, fmt.Errorf("merge %s: %w", child.thread().Name, err)
		}
		return report, nil
	})
}

// detached runs a use case that spans several threads, to its end even when the client leaves.
func (m *Manager) detached(ctx context.Context, run func(context.Context) (thread.MergeReport, error)) (thread.MergeReport, error) {
	if !m.begin() {
		return thread.MergeReport{}, errClosed
	}
	type result struct {
		report thread.MergeReport
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer m.done()
		report, err := run(m.ctx)
		done <- result{report, err}
	}()
	select {
	case r := <-done:
		return r.report, r.err
	case <-ctx.Done():
		return thread.MergeReport{}, fmt.Errorf("wait for the merge: %w", ctx.Err())
	}
}

// mergeTarget finds what a thread is to be merged into; the line is nil for the project's own folder.
func (m *Manager) mergeTarget(ctx context.Context, child *line, r thread.MergeRequest) (_ mergeIntent, _ *line, err error) {
	t := child.thread()
	if m.cfg.Merges == nil {
		return mergeIntent{}, nil, thread.ErrNoRepository
	}
	if t.Worktree.Path == "" {
		return mergeIntent{}, nil, thread.Hint(fmt.Errorf("it has no worktree of its own: %w", thread.ErrRefused), "its work is in "+t.Dir+" already")
	}
	in := mergeIntent{Dir: m.cfg.Project, Branch: t.Worktree.Branch, Finish: r.Finish, Commit: r.CommitInto}
	if in.Tell, in.Ask, err = m.noteMode(r.Note); err != nil {
		return in, nil, err
	}
	var target *line
	switch {
	case r.Into != "":
		l, err := m.find(r.Into)
		if err != nil {
			return in, nil, err
		}
		target = l
	case t.Parent != "":
		target = m.line(t.Parent)
		if target != nil && !target.thread().Deleted.IsZero() {
			target = nil // the project's folder is what is left
		}
	}
	if target == child {
		return in, nil, fmt.Errorf("into itself: %w", thread.ErrInvalid)
	}
	if target != nil {
		in.Into, in.Dir = target.id, m.rootOf(target.thread())
	}
	branch, err := m.cfg.Merges.Branch(ctx, in.Dir)
	switch {
	case errors.Is(err, thread.ErrNotFound) && target != nil:
		return in, nil, thread.Hint(err, "resume "+target.thread().Name+", which makes its folder again, or merge into another thread")
	case err != nil:
		return in, nil, err
	}
	if branch == "" {
		return in, nil, thread.Hint(fmt.Errorf("%s is on no branch: %w", in.Dir, thread.ErrRefused), "check a branch out there first")
	}
	in.Target = branch
	return in, target, nil
}

// standsOn returns the branch that a thread's work is on: its own, or another one that its agent checked out.
func (m *Manager) standsOn(ctx context.Context, t thread.Thread) (string, error) {
	branch, err := m.cfg.Merges.Branch(ctx, t.Worktree.Path)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return t.Worktree.Branch, nil // the folder is gone: what needs it says so
	case err != nil:
		return "", err
	case branch == "":
		return "", thread.Hint(fmt.Errorf("its worktree %s is on no branch: %w", t.Worktree.Path, thread.ErrRefused), "git -C "+t.Worktree.Path+" switch -c NAME")
	}
	return branch, nil
}

// mergeReport begins the report of a merge: from where to where, and whose folders these are besides.
func (m *Manager) mergeReport(child *line, in mergeIntent) thread.MergeReport {
	there := thread.Thread{ID: in.Into, Dir: in.Dir}
	if into := m.line(in.Into); into != nil {
		there.Worktree = into.thread().Worktree
	}
	t := child.thread()
	shared := m.besides(t)
	beside := slices.DeleteFunc(m.besides(there), func(name string) bool { return name == t.Name || slices.Contains(shared, name) })
	return thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir, Shared: shared, Beside: beside}
}

// mergePreview says what a merge would come to.
func (m *Manager) mergePreview(ctx context.Context, child *line, in mergeIntent) (thread.MergeReport, error) {
	report := m.mergeReport(child, in)
	if err := m.mergeStopped(ctx, child, in.Dir, &report); err != nil || report.Stopped {
		return report, err
	}
	t := child.thread()
	what, err := m.cfg.Merges.Preview(ctx, in.Dir, t.Worktree.Path)
	switch {
	case err != nil && m.commitsInto(in) && errors.Is(err, thread.ErrConflict):
		report.Unsure = "what is not committed in " + in.Dir + " is committed first, and may conflict"
	case err != nil:
		return report, m.offerCommit(ctx, t.Name, in, err)
	}
	if in.Commit {
		if report.Committed, err = m.uncommitted(ctx, in); err != nil {
			return report, err
		}
	}
	report.UpToDate, report.Conflicts = what.UpToDate, what.Conflicts
	if m.cfg.Differ != nil && !what.UpToDate {
		report.Files, err = m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// mergeStopped notes in a report that the thread's merge into a folder waits there for its conflicts to
// be resolved, and which. That another's does is an error.
func (m *Manager) mergeStopped(ctx context.Context, child *line, dir string, report *thread.MergeReport) error {
	under, err := m.cfg.Merges.InProgress(ctx, dir)
	if err != nil || !under {
		return err
	}
	if _, own, err := m.openMerge(ctx, child); err != nil || own.Dir != dir {
		return thread.Hint(fmt.Errorf("%s is in the middle of another merge: %w", dir, thread.ErrConflict), "continue or abort that one first")
	}
	report.Stopped = true
	report.Conflicts, err = m.cfg.Merges.Unresolved(ctx, dir)
	return err
}

// commitsInto reports whether a merge goes into a worktree of ours: a fork begins with its parent's
// uncommitted work, so that the same changes lie in both, and there they are committed before it. The
// person's own folder is theirs to commit, unless they ask for it.
func (m *Manager) commitsInto(in mergeIntent) bool {
	into := m.line(in.Into)
	return in.Commit || into != nil && into.thread().Worktree.Path == in.Dir
}

// uncommitted names the files that a commit of all that lies in the target's folder would hold.
func (m *Manager) uncommitted(ctx context.Context, in mergeIntent) ([]string, error) {
	if m.cfg.Differ == nil {
		return nil, nil
	}
	files, err := m.cfg.Differ.Diff(ctx, in.Dir, "HEAD", "")
	if err != nil {
		return nil, fmt.Errorf("look for what is not committed in %s: %w", in.Dir, err)
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names, nil
}

// offerCommit adds to a refusal, because of what is not committed in the target's folder, what would be committed to get
// it out of the way, and how.
func (m *Manager) offerCommit(ctx context.Context, name string, in mergeIntent, refused error) error {
	if !errors.Is(refused, thread.ErrConflict) || in.Commit {
		return refused
	}
	files, err := m.uncommitted(ctx, in)
	if err != nil || len(files) == 0 {
		return refused
	}
	shown := strings.Join(files[:min(10, len(files))], ", ")
	if more := len(files) - 10; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	if hint := (*thread.HintError)(nil); errors.As(refused, &hint) {
		refused = hint.Err
	}
	return thread.Hint(refused, fmt.Sprintf("`orchestrator merge %s --commit-parent` commits all that is not committed there first: %s", name, shown))
}

// merge does it: the child's work is committed, then merged. Manager.merging is held.
func (m *Manager) merge(ctx context.Context, child, target *line, in mergeIntent, message string) (thread.MergeReport, error) {
	report := m.mergeReport(child, in)
	if err := m.mergeStopped(ctx, child, in.Dir, &report); err != nil || report.Stopped {
		return report, err
	}
	if target != nil {
		if err := m.awaitNote(ctx, target); err != nil {
			return report, err
		}
	}
	t := child.thread()
	if message == "" {
		message = cmp.Or(firstLine(t.Label), t.Name)
	}
	err := child.do(ctx, func(ctx context.Context) error {
		if err := child.idle(ctx); err != nil {
			return err
		}
		_, err := child.safety(ctx, thread.NoteBeforeMerge+"into "+in.Target, true)
		return err
	})
	if err != nil {
		return report, err
	}
	if target != nil {
		err = target.do(ctx, func(ctx context.Context) error {
			_, err := target.safety(ctx, thread.NoteBeforeMerge+"of "+t.Name, true)
			return err
		})
		if err != nil {
			return report, err
		}
	}
	intent, err := m.intend(ctx, intentMerge, child.id, in)
	if err != nil {
		return report, err
	}
	failpoint.Hit("thread.merge.intended")
	report, err = m.mergeBranches(ctx, child, in, message, report)
	if err != nil {
		m.notMerged(ctx, child, target)
		return report, errors.Join(err, m.settled(ctx, intent))
	}
	if len(report.Conflicts) > 0 {
		report.Stopped = true
		m.notice(child.id, thread.LevelWarn, "%s conflicts with %s in %s: %s. Resolve that in %s, then continue, or abort",
			t.DisplayName(), in.Target, counted(len(report.Conflicts), "file"), strings.Join(report.Conflicts[:min(5, len(report.Conflicts))], ", "), in.Dir)
		return report, nil // the intent stays until the person is done
	}
	return m.merged(ctx, child, intent, in, report)
}

// counted says how many of something there are: "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// mergeBranches commits what the child's worktree holds and merges its branch.
func (m *Manager) mergeBranches(ctx context.Context, child *line, in mergeIntent, message string, report thread.MergeReport) (thread.MergeReport, error) {
	t := child.thread()
	if m.cfg.Differ != nil {
		files, err := m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			return report, fmt.Errorf("compare the files: %w", err)
		}
		report.Files = files
	}
	if _, err := m.cfg.Merges.Commit(ctx, t.Worktree.Path, message); err != nil {
		return report, fmt.Errorf("commit its work: %w", err)
	}
	failpoint.Hit("thread.merge.committed")
	if m.commitsInto(in) {
		if in.Commit {
			var err error
			if report.Committed, err = m.uncommitted(ctx, in); err != nil {
				return report, err
			}
		}
		if _, err := m.cfg.Merges.Commit(ctx, in.Dir, "Work before the merge of "+t.Name); err != nil {
			return report, fmt.Errorf("commit the work of %s: %w", in.Dir, err)
		}
	}
	what, err := m.cfg.Merges.Merge(ctx, in.Dir, in.Branch, "Merge "+t.Name+"\n\n"+message)
	if err != nil {
		return report, m.offerCommit(ctx, t.Name, in, err)
	}
	failpoint.Hit("thread.merge.merged")
	report.Commit, report.UpToDate, report.Conflicts = what.Commit, what.UpToDate, what.Conflicts
	return report, nil
}

// merged records a merge that is done, tells the target's agent and finishes the thread if asked.
func (m *Manager) merged(ctx context.Context, child *line, intent thread.Intent, in mergeIntent, report thread.MergeReport) (thread.MergeReport, error) {
	err := child.do(ctx, func(ctx context.Context) error {
		return child.update(ctx, func(t *thread.Thread) error {
			t.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Into: in.Into, Commit: report.Commit, At: m.now()}
			return nil
		})
	})
	if err != nil {
		return report, fmt.Errorf("record the outcome: %w", err)
	}
	failpoint.Hit("thread.merge.recorded")
	report.Summary = m.mergeSummary(ctx, child, in, report)
	if target := m.line(in.Into); target != nil && !report.UpToDate {
		report.Told, report.Ask = in.Tell, in.Ask
		if in.Tell {
			m.tell(ctx, target, report.Summary)
		}
	}
	if err := m.settled(ctx, intent); err != nil {
		return report, err
	}
	if in.Finish {
		return m.finish(ctx, child, in, report)
	}
	return report, nil
}

// noteMode says whether a merge is told to the target's agent, and else whether the person is to be asked.
func (m *Manager) noteMode(wanted thread.NoteMode) (tell, ask bool, err error) {
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
	return false, false, fmt.Errorf("note %q: it is %s, %s or %s: %w", string(wanted), thread.NoteAlways, thread.NoteNever, thread.NoteAsk, thread.ErrInvalid)
}

// tellMerged sends the note of a thread's newest merge.
func (m *Manager) tellMerged(ctx context.Context, child, target *line, in mergeIntent) (thread.MergeReport, error) {
	t := child.thread()
	report := thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir, Commit: t.Outcome.Commit}
	if target == nil || t.Outcome.Kind != thread.OutcomeMerged || t.Outcome.Into != target.id {
		return report, thread.Hint(fmt.Errorf("it was not merged into another thread's branch: %w", thread.ErrInvalid), "merge it first")
	}
	if m.cfg.Differ != nil {
		files, err := m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			m.cfg.Log.Warn("compare the files of a merge", "thread", string(t.ID), "err", err) // its worktree may be gone
		}
		report.Files = files
	}
	report.Summary, report.Told = m.mergeSummary(ctx, child, in, report), true
	m.tell(ctx, target, report.Summary)
	return report, nil
}

// mergeSummary is what the target's agent is told of a merge. The fork's own words are quoted.
func (m *Manager) mergeSummary(ctx context.Context, child *line, in mergeIntent, report thread.MergeReport) string {
	t := child.thread()
	var b strings.Builder
	fmt.Fprintf(&b, "For your information: thread %q", t.Name)
	if t.Label != "" {
		fmt.Fprintf(&b, " (%s)", oneLine(t.Label, 200))
	}
	fmt.Fprintf(&b, " was merged into your branch %s", in.Target)
	if report.Commit != "" {
		fmt.Fprintf(&b, " as commit %s", report.Commit[:min(12, len(report.Commit))])
	}
	b.WriteString(".\n")
	if len(report.Files) > 0 {
		b.WriteString("\nFiles:\n")
		for i, f := range report.Files {
			if i == 30 {
				fmt.Fprintf(&b, "- … and %d more\n", len(report.Files)-i)
				break
			}
			fmt.Fprintf(&b, "- %s (%s, +%d −%d)\n", oneLine(f.Path, 200), f.Status, f.Insertions, f.Deletions)
		}
	}
	if answer := m.lastAnswer(ctx, t); answer != "" {
		fmt.Fprintf(&b, "\nIts last answer, quoted:\n> %s\n", quote(answer))
	}
	b.WriteString("\nTake note of it and say so in one sentence; do nothing else now.")
	return b.String()
}

// lastAnswer returns what a thread itself answered last, "" when it never did. What a rewind left behind does not count.
func (m *Manager) lastAnswer(ctx context.Context, t thread.Thread) string {
	if t.Head == "" {
		return ""
	}
	stands, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 20})
	if err != nil {
		m.cfg.Log.Warn("read the last answer", "thread", string(t.ID), "err", err)
	}
	for _, c := range stands {
		if c.Thread == t.ID && c.Answer != "" && (c.Kind == thread.KindTurn || c.Kind == thread.KindResponse) {
			return secret.Redact(c.Answer)
		}
	}
	return ""
}

// MergeContinue goes on with a merge whose conflicts are resolved.
func (m *Manager) MergeContinue(ctx context.Context, ref string) (thread.MergeReport, error) {
	child, err := m.find(ref)
	if err != nil {
		return thread.MergeReport{}, err
	}
	return m.detached(ctx, func(ctx context.Context) (thread.MergeReport, error) {
		m.merging.Lock()
		defer m.merging.Unlock()
		name := child.thread().Name
		intent, in, err := m.openMerge(ctx, child)
		if err != nil {
			return thread.MergeReport{}, fmt.Errorf("continue the merge of %s: %w", name, err)
		}
		report := thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir}
		what, err := m.cfg.Merges.Continue(ctx, in.Dir)
		if err != nil {
			return report, fmt.Errorf("continue the merge of %s: %w", name, err)
		}
		if len(what.Conflicts) > 0 {
			report.Conflicts = what.Conflicts
			return report, thread.Hint(fmt.Errorf("continue the merge of %s: %s: %w", name, counted(len(what.Conflicts), "file"), thread.ErrConflict), "resolve the conflicts in "+in.Dir)
		}
		report.Commit = what.Commit
		return m.merged(ctx, child, intent, in, report)
	})
}

// MergeAbort takes a merge with conflicts back; the thread's own branch keeps its commit.
func (m *Manager) MergeAbort(ctx context.Context, ref string) error {
	child, err := m.find(ref)
	if err != nil {
		return err
	}
	_, err = m.detached(ctx, func(ctx context.Context) (thread.MergeReport, error) {
		m.merging.Lock()
		defer m.merging.Unlock()
		intent, in, err := m.openMerge(ctx, child)
		if err == nil {
			err = m.cfg.Merges.Abort(ctx, in.Dir)
		}
		if err != nil {
			return thread.MergeReport{}, fmt.Errorf("abort the merge of %s: %w", child.thread().Name, err)
		}
		m.notMerged(ctx, child, m.line(in.Into))
		return thread.MergeReport{}, m.settled(ctx, intent)
	})
	return err
}

// notMerged notes with the threads of a merge that it came to nothing.
func (m *Manager) notMerged(ctx context.Context, lines ...*line) {
	for _, l := range lines {
		if l == nil {
			continue
		}
		err := l.do(ctx, func(ctx context.Context) error {
			_, err := l.safety(ctx, thread.NoteNotMerged, false)
			return err
		})
		if err != nil {
			m.cfg.Log.Warn("note that a merge was taken back", "thread", string(l.id), "err", err)
		}
	}
}

// openMerge finds the merge of a thread that waits for a person.
func (m *Manager) openMerge(ctx context.Context, child *line) (thread.Intent, mergeIntent, error) {
	if m.cfg.Merges == nil {
		return thread.Intent{}, mergeIntent{}, thread.ErrNoRepository
	}
	all, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return thread.Intent{}, mergeIntent{}, err
	}
	for _, i := range all {
		if i.Kind != intentMerge || i.Thread != child.id {
			continue
		}
		var in mergeIntent
		if err := json.Unmarshal(i.Data, &in); err != nil {
			return i, in, fmt.Errorf("read the intent: %w", err)
		}
		return i, in, nil
	}
	return thread.Intent{}, mergeIntent{}, fmt.Errorf("no merge is under way: %w", thread.ErrRefused)
}

// repairMerge looks what became of a merge that a crash cut. One with conflicts waits for the person.
func (m *Manager) repairMerge(ctx context.Context, i thread.Intent) (keep bool, err error) {
	child := m.line(i.Thread)
	if m.cfg.Merges == nil || child == nil {
		return child != nil, nil
	}
	var in mergeIntent
	if err := json.Unmarshal(i.Data, &in); err != nil {
		return false, fmt.Errorf("read the intent: %w", err)
	}
	t := child.thread()
	if err := m.cfg.Merges.Repair(ctx, in.Dir); err != nil {
		return true, err
	}
	under, err := m.cfg.Merges.InProgress(ctx, in.Dir)
	if err != nil {
		return true, err
	}
	if under {
		m.notice(i.Thread, thread.LevelWarn, "the merge of %s into %s is not finished: resolve what is left in %s, then continue, or abort", t.DisplayName(), in.Target, in.Dir)
		return true, nil
	}
	all, _, err := m.cfg.Merges.Reachable(ctx, t.Worktree.Path, in.Dir)
	if err != nil {
		return true, err
	}
	if all && t.Outcome.Kind != thread.OutcomeMerged {
		err = child.update(ctx, func(t *thread.Thread) error {
			t.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Into: in.Into, At: m.now()}
			return nil
		})
		m.notice(i.Thread, thread.LevelInfo, "the merge of %s into %s had been done before the crash", t.DisplayName(), in.Target)
		return err != nil, err
	}
	if !all {
		m.notice(i.Thread, thread.LevelWarn, "the merge of %s into %s was cut off before it was done; nothing is lost, merge again", t.DisplayName(), in.Target)
	}
	return false, nil
}
