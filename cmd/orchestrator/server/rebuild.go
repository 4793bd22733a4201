package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/checkpoint/quarantine"
	"orchestrator/checkpoint/roster"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/rebuild"
)

// recoverLost recovers what the store lost: threads that only the repository knows of, and turns from the agents' own
// transcripts. The result is reported until the user dismisses it. The server starts even if this fails.
func (a *Server) recoverLost(ctx context.Context, cfg rebuild.Config) {
	found, err := a.fromRefs(ctx)
	if err != nil {
		a.store.Problems = append(a.store.Problems, err.Error())
	}
	outcomes, err := rebuild.Run(ctx, cfg)
	if err != nil {
		a.store.Problems = append(a.store.Problems, err.Error())
	}
	if text := a.recoveryReport(found, outcomes); text != "" {
		if err := a.reportLoss(text); err != nil {
			a.store.Problems = append(a.store.Problems, err.Error(), text)
		}
	}
}

// mend rebuilds the newest turns of one thread that cannot be read, and reports it until the user dismisses it.
func (a *Server) mend(ctx context.Context, cfg rebuild.Config, id thread.ID) (string, error) {
	o, mended, err := rebuild.Mend(ctx, cfg, id, time.Now())
	if !mended {
		return "", err
	}
	said := o.String()
	if o.Why != "" {
		said += fmt.Sprintf("; it continues after turn %d", o.Thread.Turn)
	}
	return said, errors.Join(err, a.reportLoss("Turns could not be read, because the stored data is damaged.\n"+said+
		"\nWhat cannot be read stays in the database, out of the thread's way. A rebuilt turn has its prompt, answers, "+
		"usage and transcript. Tool results are only in the transcript.\n"))
}

// recoveryReport describes what was lost and recovered; it is "" if nothing was lost. Its first line is shown to the
// user.
func (a *Server) recoveryReport(found []thread.Thread, outcomes []rebuild.Outcome) string {
	var lines []string
	turns, whole := 0, true
	for _, t := range found {
		lines = append(lines, fmt.Sprintf("found: thread %q, by its snapshots in refs/orchestrator/%s%s", t.Name,
			t.ID, unknownOf(t)))
	}
	losses := a.store.Lost
	for _, o := range outcomes {
		i := slices.IndexFunc(losses, func(l roster.Loss) bool { return l.Was.ID == o.Thread.ID })
		isFound := slices.ContainsFunc(found, func(t thread.Thread) bool { return t.ID == o.Thread.ID })
		turns += o.Rebuilt()
		switch {
		case o.Why == "" && (o.To > 0 || o.Again > 0):
			lines = append(lines, "rebuilt: "+o.String())
		case o.Why != "" && (o.To > 0 || o.Was > 0 || isFound):
			text := "lost: " + o.String()
			if i >= 0 {
				text += "; " + losses[i].Recovery()
			}
			lines, whole = append(lines, text), false
		case i >= 0 && o.Was > 0:
			lines = append(lines, "lost: "+losses[i].String())
		case i >= 0:
			lines = append(lines, fmt.Sprintf("listed again: thread %q, which has no turns yet", o.Thread.Name))
		}
		if i >= 0 {
			losses = slices.Delete(slices.Clone(losses), i, i+1)
		}
	}
	for _, l := range losses { // could not be checked at all
		lines, whole = append(lines, "lost: "+l.String()), false
	}
	if len(lines) == 0 {
		return ""
	}
	first := fmt.Sprintf("The database lost threads or turns: %d turns were rebuilt from the agents' transcripts", turns)
	if !whole {
		first += ", others could not be"
	}
	return first + ".\n" + strings.Join(lines, "\n") +
		"\nA rebuilt turn has its prompt, answers, usage and transcript. Tool results are only in the transcript.\n"
}

// unknownOf returns what is unknown about a thread that was found by its refs.
func unknownOf(t thread.Thread) string {
	if t.Agent != "" {
		return ""
	}
	return "; its agent is unknown: `orchestrator fork -t " + t.Name + " -a <agent> <label>` continues with its files"
}

// reportLoss keeps the report until the user dismisses it.
func (a *Server) reportLoss(text string) error {
	dir, err := private.Open(a.Project.StateDir())
	if err != nil {
		return err
	}
	defer dir.Close()
	find, err := quarantine.New(dir, time.Now())
	if err != nil {
		return err
	}
	return errors.Join(quarantine.Report(find, text), find.Close())
}

// about returns what a thread's snapshots record about it.
func (a *Server) about(id thread.ID) (snapshot.About, bool) {
	if a.store.Listed == nil {
		return snapshot.About{}, false
	}
	t, ok := a.store.Listed(id)
	return snapshot.About{Name: t.Name, Agent: t.Agent, Session: t.Session, Parent: t.Parent}, ok
}

// snapshots returns the snapshots of a thread's files.
func (a *Server) snapshots(ctx context.Context, id thread.ID) ([]rebuild.Snapshot, error) {
	kept, err := a.files.Taken(ctx, id)
	list := make([]rebuild.Snapshot, 0, len(kept))
	for _, k := range kept {
		list = append(list, rebuild.Snapshot{Snapshot: k.Snapshot, From: k.From, Until: k.Until})
	}
	return list, err
}

// fromRefs lists threads again that are missing in both the store and the list of threads, by the refs of their
// snapshots and by their worktrees. It ignores threads of which our own state has no trace, because copies of a
// repository come with refs too.
func (a *Server) fromRefs(ctx context.Context) ([]thread.Thread, error) {
	if a.files == nil || !a.store.Doubtful || !a.worked() {
		return nil, nil
	}
	known, err := a.files.Known(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := a.store.Threads(ctx)
	if err != nil {
		return nil, err
	}
	var found []thread.Thread
	for _, k := range known {
		if k.Thread.Check() != nil || slices.ContainsFunc(stored,
			func(t thread.Thread) bool { return t.ID == k.Thread }) || !a.traced(k) {
			continue
		}
		t, err := a.listAgain(ctx, k)
		if err != nil {
			return found, err
		}
		found = append(found, t)
	}
	return found, nil
}

// worked reports whether threads have run here before.
func (a *Server) worked() bool {
	entries, err := os.ReadDir(filepath.Join(a.Project.StateDir(), "threads"))
	return err == nil && len(entries) > 0
}

// traced reports whether our state has a trace of a thread.
func (a *Server) traced(k snapshot.Known) bool {
	if k.Worktree.Path != "" {
		return true // by its record
	}
	info, err := os.Lstat(filepath.Join(a.Project.StateDir(), "threads", string(k.Thread)))
	return err == nil && info.IsDir()
}

// nameOf returns a thread's name in the repository, if it is one of ours.
func nameOf(k snapshot.Known) string {
	i := max(0, len(k.Name)-5)
	slug, digits := k.Name[:i], strings.TrimPrefix(k.Name[i:], "-")
	if _, err := strconv.ParseUint(digits, 16, 16); err != nil || len(digits) != 4 || thread.Slug(slug) != slug {
		return thread.NewName("found")
	}
	return k.Name
}

// listAgain stores a thread with what the repository knows about it.
func (a *Server) listAgain(ctx context.Context, k snapshot.Known) (thread.Thread, error) {
	t := thread.Thread{
		ID: k.Thread, Name: nameOf(k), Label: "found by its files", Agent: k.Agent, Session: k.Session, Parent: k.Parent,
		Dir: k.Dir, Worktree: k.Worktree, Created: k.First, Updated: k.Last,
	}
	if t.Session != "" {
		t.Turn, t.Interrupted = 1, true // nothing else is known, except that it is not new
	}
	if t.Parent.Check() != nil {
		t.Parent = ""
	}
	if t.Created.IsZero() {
		t.Created, t.Updated = time.Now(), time.Now()
	}
	if _, err := a.agents.Agent(t.Agent); err != nil {
		t.Agent, t.Session = "", ""
	}
	var err error
	for range 8 {
		if err = a.store.CreateThread(ctx, t); !errors.Is(err, thread.ErrNameTaken) {
			break
		}
		t.Name = thread.NewName(strings.TrimSpace(t.Name))
	}
	if err == nil {
		err = rebuild.Mark(ctx, a.store, t.ID, &t, time.Now())
	}
	if err != nil {
		return t, fmt.Errorf("list thread %s again, found by its files: %w", k.Thread, err)
	}
	return t, nil
}
