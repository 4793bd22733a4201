package eventlog

import (
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
)

// TestLaidOutWhenDrawn: what happens is taken over once for each picture, not for each event, and not while the log is
// closed.
func TestLaidOutWhenDrawn(t *testing.T) {
	f := &Feature{Host: &host.Host{Dialogs: &dialog.Stack{}}, log: log{notices: &host.Notices{}, clock: time.Now, asked: true}}
	f.panel = newPanel(&f.log, nil)
	f.Dialogs.Push(f.panel)
	f.panel.fill()
	happen := func(seq int64) {
		f.Add(thread.Happening{Seq: seq, At: time.Unix(seq, 0), Thread: "a", Kind: thread.HappenedDone})
	}
	for seq := range int64(3) {
		happen(seq + 1)
	}
	if n := len(f.panel.all); n != 0 {
		t.Errorf("%d rows before it is drawn", n)
	}
	if f.panel.Handle(intent.Up); len(f.panel.all) != 3 {
		t.Errorf("%d rows", len(f.panel.all))
	}
	f.Dialogs.Close(f.panel)
	if happen(4); f.panel.stale {
		t.Error("the closed log is laid out")
	}
	if p := newPanel(&f.log, nil); p.Handle(intent.Up) != nil || len(p.all) != 4 {
		t.Errorf("opened again it has %d rows", len(p.all))
	}
}
