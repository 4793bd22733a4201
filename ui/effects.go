package ui

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"

	tea "charm.land/bubbletea/v2"
)

// How long calls may take: reading, and what starts processes or moves files.
const (
	quick = 30 * time.Second
	slow  = 5 * time.Minute
	// settle is how long a selection rests before it is acted upon, look how long before it counts
	// as seen.
	settle = 60 * time.Millisecond
	look   = 700 * time.Millisecond
	retry  = time.Second
	// moment is how long the first list may take without a word about it.
	moment = 300 * time.Millisecond
	// askAfter is after how many tries the person is asked whether to start a server.
	askAfter = 2
	// mostAside bounds the turns among which those are looked for that a rewind left behind.
	mostAside = 1000
	// batch is how many events are taken at once.
	batch = 512
)

// call runs a call of the server with a time limit and turns what comes into a message.
func (m *Model) call(limit time.Duration, do func(context.Context) tea.Msg) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return do(ctx)
	}
}

// subscribe begins to listen; the list is asked for once the stream stands, so nothing is missed.
func (m *Model) subscribe() tea.Cmd {
	m.conn.gen++
	gen, ctx := m.conn.gen, m.ctx
	return func() tea.Msg {
		events, err := m.cfg.Server.Events(ctx)
		return subscribedMsg{gen, events, err}
	}
}

// next waits for events and takes what else is there.
func (m *Model) next() tea.Cmd {
	gen, events := m.conn.gen, m.conn.events
	return func() tea.Msg {
		e, ok := <-events
		if !ok {
			return eventsMsg{gen: gen, over: true}
		}
		got := []thread.Event{e}
		for len(got) < batch {
			select {
			case e, ok := <-events:
				if !ok {
					return eventsMsg{gen: gen, events: got, over: true}
				}
				got = append(got, e)
				continue
			default:
			}
			break
		}
		return eventsMsg{gen: gen, events: got}
	}
}

func (m *Model) list() tea.Cmd {
	since := m.conn.seq
	return m.call(quick, func(ctx context.Context) tea.Msg {
		all, err := m.cfg.Server.List(ctx)
		return listedMsg{all, since, err}
	})
}

func (m *Model) loadAgents() tea.Cmd {
	return m.call(quick, func(ctx context.Context) tea.Msg {
		a, err := m.cfg.Server.Agents(ctx)
		return agentsMsg{a, err}
	})
}

func (m *Model) loadMCP() tea.Cmd {
	return m.call(quick, func(ctx context.Context) tea.Msg {
		s, err := m.cfg.Server.MCP(ctx)
		return mcpMsg{s, err}
	})
}

func (m *Model) loadTimeline() tea.Cmd {
	id := m.views.timeline.Thread()
	var aside tea.Cmd
	if m.views.timeline.WantAside() {
		aside = m.call(quick, func(ctx context.Context) tea.Msg {
			turns, err := m.cfg.Server.Timeline(ctx, string(id), thread.Page{Turns: true, All: true, Limit: mostAside})
			return asideMsg{id, turns, err}
		})
	}
	p, want := m.views.timeline.Want()
	if !want {
		return aside
	}
	return tea.Batch(aside, m.call(quick, func(ctx context.Context) tea.Msg {
		page, err := m.cfg.Server.Timeline(ctx, string(id), p)
		return timelineMsg{id, page, err}
	}))
}

func (m *Model) loadTurn(id thread.ID, cp thread.Checkpoint) tea.Cmd {
	m.views.turn.Show(id, cp)
	return m.call(quick, func(ctx context.Context) tea.Msg {
		entries, err := m.cfg.Server.Turn(ctx, string(id), string(cp.ID))
		return turnMsg{id, cp.ID, entries, err}
	})
}

func (m *Model) loadDiff(id thread.ID, what diff.Range) tea.Cmd {
	m.views.diff.Show(id, what)
	return m.call(quick, func(ctx context.Context) tea.Msg {
		files, err := m.cfg.Server.Diff(ctx, thread.DiffRequest{Thread: string(id), From: what.From, To: what.To})
		return diffMsg{id, what, files, err}
	})
}

func (m *Model) loadWhy(id thread.ID, into *dialog.Text) tea.Cmd {
	return m.call(quick, func(ctx context.Context) tea.Msg {
		r, err := m.cfg.Server.Why(ctx, string(id))
		return whyMsg{into, r, err}
	})
}

// find searches for what stands in the picker.
func (m *Model) find(p *dialog.Picker) tea.Cmd {
	m.views.find++
	gen, q := m.views.find, p.Query()
	return m.call(quick, func(ctx context.Context) tea.Msg {
		hits, err := m.cfg.Server.Find(ctx, q, 100)
		return foundMsg{gen, p, hits, err}
	})
}

// change runs something that changes a thread; what is said when it worked.
func (m *Model) change(what string, do func(context.Context) error, undo *undoStep) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg { return doneMsg{what, do(ctx), undo} })
}

// begin is change for what takes a while: it says first what is under way.
func (m *Model) begin(doing, what string, do func(context.Context) error, undo *undoStep) tea.Cmd {
	return tea.Batch(m.tell(thread.LevelInfo, doing), m.change(what, do, undo))
}

// make runs something that ends in a thread to be shown.
func (m *Model) make(what, said string, focus bool, do func(context.Context) (thread.Status, error)) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		s, err := do(ctx)
		return madeMsg{what, said, s, err, focus}
	})
}

func (m *Model) resume(id thread.ID, focus bool) tea.Cmd {
	cols, rows := m.paneSize()
	return m.make("resume", "resumed", focus, func(ctx context.Context) (thread.Status, error) {
		return m.cfg.Server.Resume(ctx, string(id), cols, rows)
	})
}

func (m *Model) resumeAll() tea.Cmd {
	cols, rows := m.paneSize()
	return m.call(slow, func(ctx context.Context) tea.Msg {
		all, err := m.cfg.Server.ResumeAll(ctx, cols, rows)
		return resumedMsg{all, err}
	})
}

// errOthersToCommit says that what a merge would commit first is not what the person was asked about.
var errOthersToCommit = errors.New("look again: other files are not committed now")

// namesOf is a list of paths that can be compared.
func namesOf(paths []string) string { return strings.Join(paths, "\x00") }

// merge merges, or with a dialog to fill, looks what a merge would do. Where work that is not committed is in its way,
// it looks what a merge would do that commits that work first.
func (m *Model) merge(p mergePlan, into *dialog.Ask) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		req := thread.MergeRequest{Thread: string(p.id), Into: string(p.into), DryRun: into != nil, Finish: p.finish, CommitInto: p.commit}
		if into == nil && p.commit {
			look := req
			look.DryRun = true
			if now, err := m.cfg.Server.Merge(ctx, look); err != nil || namesOf(now.Committed) != p.named {
				return mergedMsg{p, nil, now, cmp.Or(err, errOthersToCommit)}
			}
		}
		r, err := m.cfg.Server.Merge(ctx, req)
		if into != nil && !p.commit && errors.Is(err, thread.ErrConflict) {
			req.CommitInto = true
			if with, no := m.cfg.Server.Merge(ctx, req); no == nil && len(with.Committed) > 0 {
				p.commit, p.named, r, err = true, namesOf(with.Committed), with, nil
			}
		}
		return mergedMsg{p, into, r, err}
	})
}

func (m *Model) mergeContinue(id thread.ID) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		r, err := m.cfg.Server.MergeContinue(ctx, string(id))
		return mergedMsg{mergePlan{id: id}, nil, r, err}
	})
}

// planRewind looks what a rewind would change.
func (m *Model) planRewind(id thread.ID, at string, turn int, into *dialog.Ask) tea.Cmd {
	return m.call(quick, func(ctx context.Context) tea.Msg {
		files, err := m.cfg.Server.Diff(ctx, thread.DiffRequest{Thread: string(id), From: at, To: "now"})
		return rewindPlanMsg{into, id, at, turn, files, err}
	})
}

func (m *Model) rewind(r thread.RewindRequest) tea.Cmd {
	return m.call(slow, func(ctx context.Context) tea.Msg {
		rep, err := m.cfg.Server.Rewind(ctx, r)
		return rewindMsg{r, rep, err}
	})
}

// resumed takes the terminal back that the shell had.
func (m *Model) resumed() tea.Cmd {
	m.screen.away, m.hands.burst = false, false
	m.live.run = "" // attach again: what was painted is gone
	return func() tea.Msg { return tea.ClearScreen() }
}

// answerOffer tells the server what the person thinks of an offer.
func (m *Model) answerOffer(id, how, said string) tea.Cmd {
	if how != "take" {
		return m.change(said, func(ctx context.Context) error {
			_, err := m.cfg.Server.AnswerOffer(ctx, id, how)
			return err
		}, nil)
	}
	return m.make("fork", said, false, func(ctx context.Context) (thread.Status, error) {
		return m.cfg.Server.AnswerOffer(ctx, id, how)
	})
}

// edit gives the terminal to the editor until it is left.
func (m *Model) edit(path string) tea.Cmd {
	if len(m.cfg.Editor) == 0 {
		return m.fail("open "+filepath.Base(path), errors.New("no editor is set: set $VISUAL or $EDITOR"))
	}
	args := append(append([]string{}, m.cfg.Editor[1:]...), path)
	m.suspendPane(true)
	cmd := exec.Command(m.cfg.Editor[0], args...)
	// The terminal itself: the writer under Bubble Tea belongs to the painter.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return editedMsg{err} })
}
