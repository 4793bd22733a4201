package work

import "orchestrator/thread"

// CheckRun refuses an execution that is no run, with thread.ErrRefused: its process, if it has one, is not the queue's.
func (x Execution) CheckRun() error {
	what, do := "", ""
	switch x.Kind {
	case KindRun:
		return nil
	case KindTerminal:
		what, do = "is a process in a terminal", "its thread can be stopped: `orchestrator stop`"
	case KindNative:
		what, do = "is a sub-agent that its agent's CLI started", "it belongs to "+string(x.Parent)
	case KindHand:
		what, do = "was written down by hand", "`orchestrator exec complete` writes down how it ended"
	}
	return thread.Hint(thread.Kindf(thread.ErrRefused, "%s %s: it is no run", x.Name, what), do)
}
