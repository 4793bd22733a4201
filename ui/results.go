package ui

import (
	"context"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/suggest"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// The results of dialogs that the root asks itself.
type (
	archiveIt   struct{ id thread.ID }
	deleteIt    struct{ id thread.ID }
	abandonIt   struct{ dialog.Abandoned }
	stopIt      struct{ id thread.ID }
	undoIt      struct{ how undoing }
	forkIt      struct{ id string } // the offer
	mergeIt     struct{ mergePlan }
	mergeInto   struct{ mergePlan } // looks anew
	mergeOn     struct{ id thread.ID }
	mergeOff    struct{ id thread.ID }
	noteIt      struct{ mergePlan }
	mergeChoose struct{ mergePlan } // what to merge into
	rewindIt    struct{ req thread.RewindRequest }
	runIt       struct{ action intent.Action }
	goTo        struct {
		id thread.ID
		at thread.CheckpointID
		n  int
		// asked is set for a prompt without an answer: the thread's prompts are listed.
		asked bool
	}
	tryDemo  struct{}
	reviveIt struct{}
)

func (archiveIt) DialogResult() {}

func (deleteIt) DialogResult() {}

func (abandonIt) DialogResult() {}

func (undoIt) DialogResult() {}

func (forkIt) DialogResult() {}

func (stopIt) DialogResult() {}

func (mergeIt) DialogResult() {}

func (mergeInto) DialogResult() {}

func (mergeOn) DialogResult() {}

func (mergeOff) DialogResult() {}

func (noteIt) DialogResult() {}

func (mergeChoose) DialogResult() {}

func (rewindIt) DialogResult() {}

func (runIt) DialogResult() {}

func (goTo) DialogResult() {}

func (reviveIt) DialogResult() {}

func (tryDemo) DialogResult() {}

// result acts on how a dialog ended.
func (m *Model) result(r dialog.Result) tea.Cmd {
	srv := m.cfg.Server
	switch r := r.(type) {
	case dialog.NewThread:
		return m.create(r.Request)
	case dialog.Forked:
		req := r.Request
		req.Cols, req.Rows = m.paneSize()
		return tea.Batch(m.tell(thread.LevelInfo, "forking …"), m.make("fork", "forked", false, func(ctx context.Context) (thread.Status, error) { return srv.Fork(ctx, req) }))
	case dialog.Renamed:
		return m.rename(r)
	case dialog.Granted:
		return m.grant(r)
	case dialog.Abandoned:
		m.openAbandon(r)
		return nil
	case dialog.Resumed:
		if r.ID == "" {
			return tea.Batch(m.tell(thread.LevelInfo, "resuming all …"), m.resumeAll())
		}
		return m.resume(r.ID, false)
	case runIt:
		return m.do(r.action)
	case goTo:
		return m.visit(r)
	case reviveIt:
		return m.revive()
	case restartIt:
		return m.restart()
	case tryDemo:
		return m.create(thread.NewRequest{Agent: "demo"})
	default:
		if cmd, ok := m.ported(r); ok {
			return cmd
		}
		if cmd, ok := m.promptResult(r); ok {
			return cmd
		}
		return m.agreed(r)
	}
}

// agreed does what a question was answered yes to.
func (m *Model) agreed(r dialog.Result) tea.Cmd {
	srv := m.cfg.Server
	switch r := r.(type) {
	case archiveIt:
		return m.archive(r.id)
	case deleteIt:
		return m.remove(r.id)
	case abandonIt:
		return m.begin("abandoning "+m.name(r.ID)+" …", m.name(r.ID)+" is abandoned",
			func(ctx context.Context) error { return srv.Abandon(ctx, string(r.ID), r.Reason) },
			&undoStep{what: "abandoning " + m.name(r.ID), never: "This cannot be undone: it stays marked as abandoned. Its conversation, files and worktree are as they were."})
	case undoIt:
		return m.undone(r.how)
	case forkIt:
		return m.answer(r.id, "take", "forked")
	case stopIt:
		return m.begin("stopping "+m.name(r.id)+" …", "stopped", func(ctx context.Context) error { return srv.StopAgent(ctx, string(r.id)) }, nil)
	case mergeIt:
		return tea.Batch(m.tell(thread.LevelInfo, "merging …"), m.merge(r.mergePlan, nil))
	case mergeInto:
		return m.openMerge(r.mergePlan)
	case mergeChoose:
		m.chooseTarget(r.mergePlan)
		return nil
	case mergeOn:
		return tea.Batch(m.tell(thread.LevelInfo, "merging …"), m.mergeContinue(r.id))
	case noteIt:
		return m.note(r.mergePlan)
	case mergeOff:
		return m.change("the merge is aborted", func(ctx context.Context) error { return srv.MergeAbort(ctx, string(r.id)) }, nil)
	case rewindIt:
		return tea.Batch(m.tell(thread.LevelInfo, "setting back …"), m.rewind(r.req))
	default:
		return nil
	}
}

func (m *Model) create(req thread.NewRequest) tea.Cmd {
	req.Cols, req.Rows = m.paneSize()
	return tea.Batch(m.tell(thread.LevelInfo, "starting "+req.Agent+" …"),
		m.make("new thread", "started", true, func(ctx context.Context) (thread.Status, error) { return m.cfg.Server.New(ctx, req) }))
}

// grant changes what a thread's agent may do.
func (m *Model) grant(r dialog.Granted) tea.Cmd {
	if len(r.Add)+len(r.Remove) == 0 {
		return nil
	}
	var parts []string
	if len(r.Add) > 0 {
		parts = append(parts, "added "+grant.Format(r.Add))
	}
	if len(r.Remove) > 0 {
		parts = append(parts, "removed "+grant.Format(r.Remove))
	}
	said := "grants of " + m.name(r.ID) + ": " + strings.Join(parts, ", ")
	return m.change(said, func(ctx context.Context) error { return m.cfg.Server.Grant(ctx, string(r.ID), r.Add, r.Remove) }, nil)
}

// made shows a thread that was just made or started.
func (m *Model) made(msg madeMsg) tea.Cmd {
	s := msg.status
	if s.ID == "" {
		return nil
	}
	m.tree.Put(s)
	m.tree.Select(s.ID)
	m.views.now, m.views.reading, m.screen.area = viewTerminal, false, areaTree
	if msg.focus {
		m.live.wish = s.ID
	}
	return m.tell(thread.LevelInfo, s.DisplayName()+" "+msg.said)
}

func (m *Model) done(msg doneMsg) tea.Cmd {
	if msg.err != nil {
		what := msg.what
		if what == "" {
			what = "that did not work"
		} else {
			what = "not " + what
		}
		return m.fail(what, msg.err)
	}
	text := msg.what
	if msg.undo != nil {
		m.did(*msg.undo)
		if msg.undo.never == "" {
			text += "; " + m.keys.KeyOf(intent.Undo) + " takes it back"
		}
	}
	if text == "" {
		return nil
	}
	return m.tell(thread.LevelInfo, text)
}

// visit shows what a search found.
func (m *Model) visit(g goTo) tea.Cmd {
	if !m.tree.Select(g.id) {
		return m.tell(thread.LevelWarn, "that thread is gone")
	}
	if g.asked {
		return m.openPrompts(m.tree.Thread(g.id))
	}
	if g.at == "" {
		return nil
	}
	m.views.now, m.views.reading, m.screen.area = viewTimeline, true, areaMain
	m.live.selected, m.live.settled = g.id, true
	m.live.gen++
	return tea.Batch(m.fill(), m.loadTurn(g.id, thread.Checkpoint{ID: g.at, Turn: g.n}))
}

// sharing names the threads that work on the same files as one does.
func (m *Model) sharing(t thread.Thread) []string { return m.tree.Sharing(t) }

func (m *Model) openNew() tea.Cmd {
	d := dialog.Defaults{Agent: m.cfg.Agent, Dir: m.cfg.Project, Git: m.cfg.Git, Taken: m.sharing(thread.Thread{Dir: m.cfg.Project})}
	if d.Agent == "" {
		d.Agent = dialog.FirstAgent(m.agents)
	}
	m.dialogs.Push(dialog.NewNewThread(m.agents, d))
	return nil
}

func (m *Model) openFork(at dialog.Point) {
	s := m.tree.Selected()
	if s == nil {
		return
	}
	d := dialog.ForkDefaults{Git: m.cfg.Git}
	if o := m.offer(); o != nil {
		d.Label, d.Fresh = o.Label, o.Rule == string(suggest.RuleBand)
	}
	m.dialogs.Push(dialog.NewFork(s, at, m.agents, d))
}
