package manager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

func askAbout(about string) thread.HookAsk {
	return thread.HookAsk{
		About: func(q thread.Question) bool { return q.About == about },
		Says:  map[thread.Meaning][]byte{thread.Approve: []byte("yes to " + about), thread.Deny: []byte("no to " + about)},
	}
}

// TestHookAsks: a hook says what was decided about its own question, once, and ends without a word where its dialog is
// gone or never comes, or it is gone itself.
func TestHookAsks(t *testing.T) {
	shows := func(about string) thread.StateReport {
		if about == "" {
			return thread.StateReport{State: thread.StateWorking}
		}
		return thread.StateReport{State: thread.StateApproval, Question: &thread.Question{About: about}}
	}
	for name, c := range map[string]struct {
		asks    []string // of the hooks that wait
		do      func(t *testing.T, h *hookAsks, cancel func())
		says    string        // what the first hook says
		within  time.Duration // until it ends
		waiting int           // how many still wait then
	}{
		"approved": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			if !h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("it was not decided")
			}
			if h.decide(thread.Question{About: "a"}, thread.Deny) {
				t.Error("it was decided twice")
			}
		}, "yes to a", 0, 0},
		"denied, beside another": {[]string{"a", "b"}, func(t *testing.T, h *hookAsks, _ func()) {
			if !h.decide(thread.Question{About: "a"}, thread.Deny) {
				t.Error("it was not decided")
			}
		}, "no to a", 0, 1},
		"not what it can say, another's question, and then gone": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			if h.decide(thread.Question{About: "a"}, thread.ApproveAlways) || h.decide(thread.Question{About: "b"}, thread.Approve) {
				t.Error("it was decided")
			}
			h.shows(shows("b"))
		}, "", 0, 0},
		"two that ask the same": {[]string{"a", "a"}, func(t *testing.T, h *hookAsks, _ func()) {
			if h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("one of two was decided")
			}
		}, "", unseenLimit, 0},
		"never shown":    {[]string{"a"}, func(_ *testing.T, h *hookAsks, _ func()) { h.shows(shows("")) }, "", unseenLimit, 0},
		"its agent ends": {[]string{"a"}, func(_ *testing.T, _ *hookAsks, cancel func()) { cancel() }, "", 0, 0},
		"answered after an hour": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			time.Sleep(time.Hour)
			if !h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("it was not decided")
			}
		}, "yes to a", time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hookAsks
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan string, len(c.asks))
				begin := time.Now()
				for i, about := range c.asks {
					go func() {
						says := h.wait(ctx, askAbout(about))
						if i == 0 {
							ended <- string(says)
						}
					}()
				}
				synctest.Wait()
				c.do(t, &h, cancel)
				if says := <-ended; says != c.says {
					t.Errorf("it says %q", says)
				}
				if took := time.Since(begin); took != c.within {
					t.Errorf("it took %v", took)
				}
				synctest.Wait()
				if len(h.waiting) != c.waiting {
					t.Errorf("%d wait", len(h.waiting))
				}
			})
		})
	}
}
