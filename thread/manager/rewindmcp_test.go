package manager_test

import (
	"fmt"
	"testing"

	"orchestrator/thread"
)

// TestKilledRewindSetsTheServersBack kills a server between the checkpoint of a rewind and the thread's row: the next
// start leaves on the MCP servers of the turn that it went back to.
func TestKilledRewindSetsTheServersBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude"})
		if err != nil {
			t.Fatal(err)
		}
		w.turn(p.ID, "one")
		on := func(names ...string) func(thread.MCPSwitches) thread.MCPSwitches {
			return func(thread.MCPSwitches) thread.MCPSwitches {
				now := thread.MCPSwitches{Exact: true}
				for _, n := range names {
					now.On = append(now.On, thread.MCPSwitch{Server: n})
				}
				return now
			}
		}
		if err := w.m.Lifecycle.SetMCP(ctx, string(p.ID), on("early", "late")); err != nil {
			t.Fatal(err)
		}
		now, err := w.store.Thread(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.store.Checkpoint(ctx, now.Head)
		if err != nil {
			t.Fatal(err)
		}
		c.ID, c.Parent, c.Kind, c.MCP = thread.NewID[thread.CheckpointID](), c.ID, thread.KindRewind, []string{"early"}
		data := fmt.Sprintf(`{"safety":%q,"to":%q,"rewind":%q,"conversation":true}`, c.Parent, c.Parent, c.ID)
		if err := w.store.PutIntent(ctx, thread.Intent{
			ID: "i", Kind: "rewind", Thread: p.ID, Data: []byte(data),
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.PutCheckpoint(ctx, c, thread.Delta{Keep: c.Items}); err != nil {
			t.Fatal(err)
		}
		w.crash()
		now, err = w.store.Thread(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(now.MCP.On) != 1 || now.MCP.On[0].Server != "early" || now.Session != "" {
			t.Errorf("after the next start: %+v, session %q", now.MCP.On, now.Session)
		}
	})
}
