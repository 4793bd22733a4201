package said

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// last is an answer and the turn that it ends.
type last struct {
	text string
	turn int
}

// answer copies the last answer of a thread.
func (f *Feature) answer(s *thread.Status) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	return host.Call(f.Host, host.Quick, func(ctx context.Context) (last, error) {
		text, turn, err := f.Newest(ctx, id)
		return last{text, turn}, err
	}, func(a last, err error) tea.Cmd {
		switch {
		case err != nil:
			return f.Fail("copy the last answer of "+name, err)
		case a.text == "":
			return f.Notify(thread.LevelInfo, name+": no answer yet")
		}
		return f.Copy(name, fmt.Sprintf("answer of turn %d", a.turn), a.text)
	})
}

// looked is how many turns are looked at for an answer: a turn may have none, because it was interrupted.
const looked = 5

// Newest returns the last answer of a thread and its turn, by our own record; "" if there is none.
func (f *Feature) Newest(ctx context.Context, id thread.ID) (text string, turn int, err error) {
	turns, err := api.Timeline.Do(ctx, f.Server,
		api.TimelineRequest{Thread: string(id), Page: thread.Page{Turns: true, Limit: looked}})
	if err != nil {
		return "", 0, err
	}
	for _, cp := range turns {
		entries, err := api.Turn.Do(ctx, f.Server, api.TurnRequest{Thread: string(id), At: string(cp.ID)})
		if err != nil {
			return "", 0, err
		}
		for i := len(entries) - 1; i >= 0; i-- {
			if e := entries[i]; e.Kind == thread.EntryAnswer && strings.TrimSpace(e.Text) != "" {
				return strings.TrimRight(e.Text, "\n"), cp.Turn, nil
			}
		}
	}
	return "", 0, nil
}
