package ui

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// The results of dialogs that the root asks itself.
type (
	archiveIt struct {
		id   thread.ID
		name string
	}
	deleteIt struct {
		id   thread.ID
		name string
	}
	stopIt  struct{ id thread.ID }
	mergeIt struct {
		id     thread.ID
		finish bool
	}
	mergeOn  struct{ id thread.ID }
	mergeOff struct{ id thread.ID }
	rewindIt struct{ req thread.RewindRequest }
	runIt    struct{ action intent.Action }
	goTo     struct {
		id thread.ID
		at thread.CheckpointID
		n  int
	}
	tryDemo struct{}
)

func (archiveIt) DialogResult() {}
func (deleteIt) DialogResult()  {}
func (stopIt) DialogResult()    {}
func (mergeIt) DialogResult()   {}
func (mergeOn) DialogResult()   {}
func (mergeOff) DialogResult()  {}
func (rewindIt) DialogResult()  {}
func (runIt) DialogResult()     {}
func (goTo) DialogResult()      {}
func (tryDemo) DialogResult()   {}

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
		return m.change("", func(ctx context.Context) error {
			_, err := srv.Rename(ctx, string(r.ID), r.Name)
			return err
		}, nil)
	case dialog.Abandoned:
		return m.change("abandoned", func(ctx context.Context) error { return srv.Abandon(ctx, string(r.ID), r.Reason) }, nil)
	case dialog.Prompted:
		return m.change("sent", func(ctx context.Context) error { return srv.Send(ctx, string(r.ID), r.Text) }, nil)
	case dialog.Resumed:
		if r.ID == "" {
			return tea.Batch(m.tell(thread.LevelInfo, "resuming all …"), m.resumeAll())
		}
		return m.resume(r.ID, false)
	case runIt:
		return m.do(r.action)
	case goTo:
		return m.visit(r)
	case tryDemo:
		return m.create(thread.NewRequest{Agent: "demo"})
	default:
		return m.agreed(r)
	}
}

// agreed does what a question was answered yes to.
func (m *Model) agreed(r dialog.Result) tea.Cmd {
	srv := m.cfg.Server
	switch r := r.(type) {
	case archiveIt:
		ref := string(r.id)
		undo := &undoStep{"archive " + r.name, func(ctx context.Context) error { return srv.Unarchive(ctx, ref) }}
		return m.change(r.name+" is archived", func(ctx context.Context) error { return srv.Archive(ctx, ref) }, undo)
	case deleteIt:
		ref := string(r.id)
		undo := &undoStep{"delete " + r.name, func(ctx context.Context) error { return srv.Undelete(ctx, ref) }}
		return m.change(r.name+" is deleted", func(ctx context.Context) error { return srv.Delete(ctx, ref) }, undo)
	case stopIt:
		return m.change("stopped", func(ctx context.Context) error { return srv.StopAgent(ctx, string(r.id)) }, nil)
	case mergeIt:
		return tea.Batch(m.tell(thread.LevelInfo, "merging …"), m.merge(r.id, r.finish, nil))
	case mergeOn:
		return tea.Batch(m.tell(thread.LevelInfo, "merging …"), m.mergeContinue(r.id))
	case mergeOff:
		return m.change("merge taken back", func(ctx context.Context) error { return srv.MergeAbort(ctx, string(r.id)) }, nil)
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
	return m.tell(thread.LevelInfo, s.Name+" "+msg.said)
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
		m.undo = append(m.undo, *msg.undo)
		text += "; " + m.keys.KeyOf(intent.Undo) + " takes it back"
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
	if g.at == "" {
		return nil
	}
	m.views.now, m.views.reading, m.screen.area = viewTimeline, true, areaMain
	m.live.selected, m.live.settled = g.id, true
	m.live.gen++
	return tea.Batch(m.fill(), m.loadTurn(g.id, thread.Checkpoint{ID: g.at, Turn: g.n}))
}

func (m *Model) openNew() tea.Cmd {
	d := dialog.Defaults{Agent: m.cfg.Agent, Dir: m.cfg.Project, Git: m.cfg.Git}
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
	label := ""
	if o := m.offer(); o != nil {
		label = o.Label
	}
	m.dialogs.Push(dialog.NewFork(s, at, m.agents, m.cfg.Git, label))
}

func (m *Model) openDelete(s *thread.Status) {
	body := []dialog.Line{{Text: "The conversation goes to the bin; files that are not committed are saved first."}}
	if running(s) {
		body = append(body, dialog.Line{Text: "Its agent runs and will be stopped.", Tok: theme.Warn})
	}
	if s.Worktree.Path != "" {
		body = append(body, dialog.Line{Text: "Its worktree goes with it: " + s.Worktree.Path, Tok: theme.Muted})
	}
	m.dialogs.Push(dialog.NewAsk("delete "+s.Name+"?", body,
		dialog.Choice{Label: "delete", Result: deleteIt{s.ID, s.Name}, Danger: true}, dialog.Choice{Label: "keep", Result: dialog.Cancelled{}}))
}

func (m *Model) openStop(s *thread.Status) {
	if !running(s) {
		return
	}
	m.dialogs.Push(dialog.NewAsk("stop "+s.Agent+" in "+s.Name+"?", dialog.Plain("The thread stays and can be resumed."),
		dialog.Choice{Label: "stop", Result: stopIt{s.ID}}, dialog.Choice{Label: "let it run", Result: dialog.Cancelled{}}))
}

func (m *Model) openMerge(s *thread.Status, finish bool) tea.Cmd {
	verb := "merge "
	if finish {
		verb = "finish "
	}
	d := dialog.NewAsk(verb+s.Name, dialog.Plain("looking what it would bring …"))
	m.dialogs.Push(d)
	return m.merge(s.ID, finish, d)
}

// merged takes what a merge would do into its dialog, or what it did.
func (m *Model) merged(msg mergedMsg) tea.Cmd {
	if msg.into != nil {
		if msg.err != nil {
			msg.into.Set([]dialog.Line{{Text: msg.err.Error(), Tok: theme.Bad}}, dialog.Choice{Label: "close", Result: dialog.Cancelled{}})
			return nil
		}
		msg.into.Set(mergePlan(msg.report, msg.finish), mergeChoices(msg)...)
		return nil
	}
	r := msg.report
	if len(r.Conflicts) > 0 {
		m.dialogs.Push(dialog.NewAsk("merge stopped: "+dialog.Count(len(r.Conflicts), "conflict"), conflictLines(r),
			dialog.Choice{Label: "solved, go on", Result: mergeOn{msg.id}}, dialog.Choice{Label: "later", Result: dialog.Cancelled{}},
			dialog.Choice{Label: "take it back", Result: mergeOff{msg.id}, Danger: true}))
		return nil
	}
	if msg.err != nil {
		return m.fail("merge", msg.err)
	}
	text := fmt.Sprintf("%s is merged into %s (%s)", r.Branch, r.Into, diff.Counts(r.Files))
	if r.UpToDate {
		text = r.Into + " has everything already"
	}
	if r.Finished {
		text += "; archived"
	}
	if r.Kept != "" {
		text += "; worktree kept: " + r.Kept
	}
	return m.tell(thread.LevelInfo, text)
}

func conflictLines(r thread.MergeReport) []dialog.Line {
	body := dialog.Plain("Solve them in "+r.Dir+":", "")
	for _, f := range r.Conflicts {
		body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Bad})
	}
	return append(body, dialog.Line{}, dialog.Line{Text: "Merging again later leads back to where it stopped.", Tok: theme.Muted})
}

func mergePlan(r thread.MergeReport, finish bool) []dialog.Line {
	if r.UpToDate {
		return dialog.Plain(r.Into + " has everything of " + r.Branch + " already.")
	}
	body := dialog.Plain(r.Branch+" → "+r.Into, diff.Counts(r.Files))
	const most = 12
	for i, f := range r.Files {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(r.Files)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: fmt.Sprintf("  %s +%d −%d", f.Path, f.Insertions, f.Deletions), Tok: theme.Muted})
	}
	if len(r.Conflicts) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: dialog.Count(len(r.Conflicts), "conflict") + " to be solved in " + r.Dir + ":", Tok: theme.Warn})
		for _, f := range r.Conflicts {
			body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Warn})
		}
	}
	if finish {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Then the thread is archived and its worktree removed, if everything in it is reachable.", Tok: theme.Muted})
	}
	return body
}

func mergeChoices(msg mergedMsg) []dialog.Choice {
	no := dialog.Choice{Label: "cancel", Result: dialog.Cancelled{}}
	merge := dialog.Choice{Label: "merge", Result: mergeIt{msg.id, false}}
	finish := dialog.Choice{Label: "merge and finish", Result: mergeIt{msg.id, true}}
	switch {
	case msg.report.UpToDate && !msg.finish:
		return []dialog.Choice{{Label: "close", Result: dialog.Cancelled{}}}
	case msg.finish:
		finish.Label = "finish"
		return []dialog.Choice{finish, no}
	default:
		return []dialog.Choice{merge, finish, no}
	}
}

func (m *Model) openRewind(id thread.CheckpointID, turn int) tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		return nil
	}
	d := dialog.NewAsk(fmt.Sprintf("set %s back to turn %d", s.Name, turn), dialog.Plain("looking what would change …"))
	m.dialogs.Push(d)
	return m.planRewind(s.ID, string(id), turn, d)
}

// planned fills the dialog of a rewind.
func (m *Model) planned(msg rewindPlanMsg) {
	now := 0
	if s := m.tree.Thread(msg.id); s != nil {
		now = s.Turn
	}
	body := []dialog.Line{}
	if n := now - msg.turn; n > 0 {
		body = append(body, dialog.Line{Text: "Conversation: " + dialog.Count(n, "turn") + " back, from " + fmt.Sprint(now) + " to " + fmt.Sprint(msg.turn) + "."})
	} else {
		body = append(body, dialog.Line{Text: "Conversation: it is the newest turn."})
	}
	files := msg.err == nil
	switch {
	case msg.err != nil:
		body = append(body, dialog.Line{Text: "Files: " + msg.err.Error(), Tok: theme.Warn})
	case len(msg.files) == 0:
		body = append(body, dialog.Line{Text: "Files: as they were then already."})
	default:
		body = append(body, dialog.Line{Text: "Files: " + rewindCounts(msg.files)})
	}
	const most = 8
	for i, f := range msg.files {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(msg.files)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + f.Path, Tok: theme.Muted})
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: "A safety point is taken first; " + m.keys.KeyOf(intent.Undo) + " brings it back.", Tok: theme.Muted})
	msg.into.Set(body, rewindChoices(msg, files)...)
}

// rewindCounts says what goes back: "2 files, 1 line added since and 3 lines removed since".
func rewindCounts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	verb := func(n int, v string) string {
		if n == 1 {
			return v + "s"
		}
		return v
	}
	s := dialog.Count(len(files), "file")
	if add > 0 {
		s += ", " + dialog.Count(add, "line") + " added since " + verb(add, "leave")
	}
	if del > 0 {
		s += ", " + dialog.Count(del, "line") + " removed since " + verb(del, "come") + " back"
	}
	return s
}

func rewindChoices(msg rewindPlanMsg, files bool) []dialog.Choice {
	req := func(files, talk bool) dialog.Result {
		return rewindIt{thread.RewindRequest{Thread: string(msg.id), At: msg.at, Files: files, Conversation: talk}}
	}
	talk := dialog.Choice{Label: "conversation", Result: req(false, true)}
	no := dialog.Choice{Label: "cancel", Result: dialog.Cancelled{}}
	if !files {
		return []dialog.Choice{talk, no}
	}
	return []dialog.Choice{{Label: "both", Result: req(true, true)}, {Label: "files", Result: req(true, false)}, talk, no}
}

func (m *Model) rewound(msg rewindMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail("set back", msg.err)
	}
	id := thread.ID(msg.req.Thread)
	if msg.report.Safety != "" {
		req := msg.req
		req.At = string(msg.report.Safety)
		m.undo = append(m.undo, undoStep{"set back to turn " + fmt.Sprint(msg.report.Turn), func(ctx context.Context) error {
			_, err := m.cfg.Server.Rewind(ctx, req)
			return err
		}})
	}
	text := msg.report.Message
	if text == "" {
		text = fmt.Sprintf("set back to turn %d", msg.report.Turn)
	}
	if m.views.timeline.Thread() == id {
		m.views.timeline.Show(id)
	}
	return tea.Batch(m.fill(), m.tell(thread.LevelInfo, text+"; "+m.keys.KeyOf(intent.Undo)+" takes it back"))
}
