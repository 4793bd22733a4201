package ui

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// The messages and results of what leaves the project and comes into it.
type (
	pushedMsg struct {
		report thread.PushReport
		err    error
	}
	// collectedMsg is what was let go or, into an open dialog, what would be.
	collectedMsg struct {
		into *dialog.Ask
		done thread.Collected
		err  error
	}

	pushIt    struct{ req thread.PushRequest }
	collectIt struct{}
	offersIt  struct{ mode thread.OfferMode }
)

func (pushIt) DialogResult() {}

func (collectIt) DialogResult() {}

func (offersIt) DialogResult() {}

// onProject acts on what the palette alone offers.
func (m *Model) onProject(a intent.Action) (tea.Cmd, bool) {
	s := m.tree.Selected()
	switch {
	case a == intent.Import:
		m.dialogs.Push(dialog.NewImport(m.cfg.Project))
	case a == intent.Collect:
		d := dialog.NewAsk("delete old threads", dialog.Plain("looking for threads that the retention settings need not keep …"), dialog.Cancel("Cancel"))
		m.dialogs.Push(d)
		return m.collect(d), true
	case a == intent.Offers:
		m.openOffers()
	case s == nil:
		return nil, false
	case a == intent.Push, a == intent.PR:
		m.openPush(s, a == intent.PR)
	case a == intent.Export:
		m.dialogs.Push(dialog.NewExport(s, m.cfg.Project))
	default:
		return nil, false
	}
	return nil, true
}

func (m *Model) openPush(s *thread.Status, pr bool) {
	title := "push " + s.DisplayName()
	if pr {
		title = "pull request of " + s.DisplayName()
	}
	if s.Worktree.Branch == "" {
		m.dialogs.Push(dialog.NewText(title, dialog.Plain("It has no branch of its own: its work is in "+s.Dir+".",
			"Fork it first, or push that folder's branch with git.")))
		return
	}
	body := dialog.Plain("Its work is committed and " + s.Worktree.Branch + " is pushed to your remote, never by force.")
	label := "Push"
	if pr {
		label = "Open the pull request"
		body = append(body, dialog.Line{Text: "Then gh opens a pull request with the thread's last answer as its text."})
	}
	m.dialogs.Push(dialog.NewAsk(title, body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: label, Result: pushIt{thread.PushRequest{Thread: string(s.ID), PR: pr}}}))
}

func (m *Model) openOffers() {
	m.dialogs.Push(dialog.NewAsk("fork offers", dialog.Plain(
		"A fork is offered when a prompt leaves its thread, another approach is tried, tools fail alike again and again, or the context is nearly full.",
		"suggest offers it, auto sends such a prompt from here into a fork at once, off does neither."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Suggest", Result: offersIt{thread.OffersSuggest}},
		dialog.Choice{Label: "Auto", Result: offersIt{thread.OffersAuto}}, dialog.Choice{Label: "Off", Result: offersIt{thread.OffersOff}}))
}

// ported does what a dialog about the project was answered with.
func (m *Model) ported(r dialog.Result) (tea.Cmd, bool) {
	srv := m.cfg.Server
	switch r := r.(type) {
	case pushIt:
		return tea.Batch(m.tell(thread.LevelInfo, "pushing …"), m.call(slow, func(ctx context.Context) tea.Msg {
			report, err := srv.Push(ctx, r.req)
			return pushedMsg{report, err}
		})), true
	case collectIt:
		return tea.Batch(m.tell(thread.LevelInfo, "deleting …"), m.collect(nil)), true
	case offersIt:
		return m.change("fork offers: "+string(r.mode), func(ctx context.Context) error { return srv.SetOffers(ctx, r.mode) }, nil), true
	case dialog.Exported:
		return m.begin("exporting …", "exported to "+r.Request.File, func(ctx context.Context) error {
			_, err := srv.Export(ctx, r.Request)
			return err
		}, nil), true
	case dialog.Imported:
		return tea.Batch(m.tell(thread.LevelInfo, "importing "+filepath.Base(r.Request.File)+" …"),
			m.make("import", "imported", false, func(ctx context.Context) (thread.Status, error) { return srv.Import(ctx, r.Request) })), true
	default:
		return nil, false
	}
}

// collect lets go of threads or, with a dialog to fill, looks what would go.
func (m *Model) collect(into *dialog.Ask) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		done, err := m.cfg.Server.Collect(ctx, thread.CollectRequest{DryRun: into != nil})
		return collectedMsg{into, done, err}
	})
}

func (m *Model) pushed(msg pushedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail("push", msg.err)
	}
	if msg.report.PR != "" {
		return m.tell(thread.LevelInfo, "pull request: "+msg.report.PR)
	}
	return m.tell(thread.LevelInfo, msg.report.Branch+" is pushed to "+msg.report.Remote)
}

// collected tells what went, or fills the dialog that asks.
func (m *Model) collected(msg collectedMsg) tea.Cmd {
	closing := dialog.Cancel("Close")
	switch {
	case msg.into == nil && msg.err != nil:
		return m.fail("delete old threads", msg.err)
	case msg.into == nil:
		return m.tell(thread.LevelInfo, fmt.Sprintf("%s deleted, %s freed", dialog.Count(len(msg.done.Threads), "thread"), thread.Bytes(msg.done.Freed)))
	case msg.err != nil:
		msg.into.Set([]dialog.Line{{Text: msg.err.Error(), Tok: theme.Bad}}, closing)
	case len(msg.done.Threads) == 0:
		msg.into.Set(dialog.Plain("Nothing is to go by the retention settings (retention.days, retention.threads, retention.size_mb)."), closing)
	default:
		body := append(dialog.Plain(msg.done.Notes...), dialog.Plain("These go for good; pinned threads, and what others need, stay:", "")...)
		for _, t := range msg.done.Threads {
			body = append(body, dialog.Line{Text: strings.Join([]string{"  " + t.Name, thread.Bytes(t.Bytes), t.Why}, "  "), Tok: theme.Muted})
		}
		msg.into.Set(body, dialog.Cancel("Cancel"), dialog.Choice{Label: "Delete them", Result: collectIt{}, Danger: true})
	}
	return nil
}
