package manager

import (
	"cmp"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/secret"
)

// notices shows people messages.
type notices struct {
	cfg *Config
	bus *events.Bus
}

// post shows people a message, about a thread if id is set.
func (n *notices) post(id thread.ID, level thread.Level, format string, args ...any) {
	n.tell(id, thread.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// tell is post for a notice with a kind.
func (n *notices) tell(id thread.ID, notice thread.Notice) {
	notice.Text = secret.Redact(notice.Text)
	level, text := notice.Level, notice.Text
	n.cfg.Log.Info("notice", "thread", cmp.Or(string(id), notice.About), "level", string(level), "text", text)
	if n.cfg.OnNotice != nil {
		n.cfg.OnNotice(level, text)
	}
	n.bus.Publish(thread.Event{
		At: n.cfg.now(), Kind: thread.EventNotice, ThreadID: id, Notice: &notice,
	})
}

// about returns a function that shows people messages about a thread.
func (n *notices) about(id thread.ID) func(thread.Level, string) {
	return func(level thread.Level, text string) { n.post(id, level, "%s", text) }
}
