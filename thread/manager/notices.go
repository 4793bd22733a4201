package manager

import (
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
	text := secret.Redact(fmt.Sprintf(format, args...))
	n.cfg.Log.Info("notice", "thread", string(id), "level", string(level), "text", text)
	if n.cfg.OnNotice != nil {
		n.cfg.OnNotice(level, text)
	}
	n.bus.Publish(thread.Event{
		At: n.cfg.now(), Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Level: level, Text: text},
	})
}

// about returns a function that shows people messages about a thread.
func (n *notices) about(id thread.ID) func(thread.Level, string) {
	return func(level thread.Level, text string) { n.post(id, level, "%s", text) }
}
