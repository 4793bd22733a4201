package masking

import (
	"fmt"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/thread"
	"orchestrator/thread/private"

	"time"
)

// alone are threads without parents, and counts of nothing.
type alone struct{}

func (alone) Lineage(thread.ID) (thread.ID, time.Time)      { return "", time.Time{} }
func (alone) Known(string, [32]byte) (int64, bool)          { return 0, false }
func (alone) Queue(string, [32]byte, string)                {}
func (alone) Estimate(bytes int) int64                      { return int64(bytes) }
func (alone) Factor(string, string) (float64, float64, int) { return 1, 0, 0 }
func (alone) Observe(string, int64, map[string]int64)       {}
func (alone) settings(thread.ID, bool) policy.Settings      { return policy.Defaults("safe") }

// served returns a masker, and what sends a request of a thread through it.
func served(t *testing.T) (m *Masker, ask func(id thread.ID)) {
	t.Helper()
	folder, err := private.Make(t.TempDir(), "masks")
	if err != nil {
		t.Fatal(err)
	}
	store := masks.Open(folder, masks.Config{})
	m, err = New(Config{Masks: store, Counts: alone{}, Calibration: alone{}, Threads: alone{}, Settings: alone{}.settings, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	body := []byte(`{"model":"claude-x","max_tokens":9000,"messages":[{"role":"user","content":"hi"}],"stream":true}`)
	return m, func(id thread.ID) {
		r := m.Rewrite(t.Context(), gateway.Outgoing{
			Thread: id, Codec: anthropic.New(), Call: wire.Call{Path: "/v1/messages", Body: body},
			Window: func(string, bool, int64) int64 { return 0 }, Notice: func(thread.Level, string) {},
		})
		if r.Request == nil {
			t.Fatal("the request was not read")
		}
	}
}

// TestConversationsOfThreadsThatEnded: hundreds of threads are served, end, are looked at and removed. What is in memory is
// of those that run, and of a few that ended.
func TestConversationsOfThreadsThatEnded(t *testing.T) {
	m, ask := served(t)
	ask("runs")
	wished := thread.ID("wished")
	ask(wished)
	m.conversations.of[wished].wanted = map[policy.ID]bool{"x": true}
	m.Rest(wished)
	for i := range 200 {
		id := thread.ID(fmt.Sprint("t", i))
		ask(id)
		if i%2 == 0 {
			m.Rest(id)
		}
		if _, err := m.Report(id); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 { // killed together with us, or deleted while it ran
			m.Forget(id)
		}
		if _, err := m.Report(thread.ID(fmt.Sprint("seen", i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.conversations.of); n > mostResting+2 || len(m.conversations.resting) > mostResting+1 {
		t.Errorf("%d conversations in memory, %d of threads that rest", n, len(m.conversations.resting))
	}
	for _, id := range []thread.ID{"runs", wished, "t198"} {
		if m.conversations.of[id] == nil {
			t.Errorf("%s is forgotten", id)
		}
	}
	if m.conversations.of["t198"].scan == nil {
		t.Error("the newest that ended shows nothing any more")
	}
	for id := range m.conversations.of {
		m.Forget(id)
	}
	if len(m.conversations.of) != 0 || len(m.conversations.resting) != 0 {
		t.Errorf("after all were removed: %d, %d", len(m.conversations.of), len(m.conversations.resting))
	}
}
