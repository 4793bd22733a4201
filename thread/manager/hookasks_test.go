package manager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// askAbout is the ask of a hook about something; of one that decides nothing if that is "".
func askAbout(about string) thread.HookAsk {
	if about == "" {
		return thread.HookAsk{About: func(thread.Question) bool { return true }}
	}
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
		"denied": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			if !h.decide(thread.Question{About: "a"}, thread.Deny) {
				t.Error("it was not decided")
			}
		}, "no to a", 0, 0},
		"beside another": {[]string{"a", "b"}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			if h.decide(thread.Question{About: "a"}, thread.Deny) {
				t.Error("one of two was decided")
			}
			h.shows(shows("b"))
			if !h.decide(thread.Question{About: "b"}, thread.Deny) {
				t.Error("the other one was not decided")
			}
		}, "", 0, 0},
		"beside one that decides nothing": {[]string{"a", ""}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			if h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("it was decided")
			}
			h.shows(shows(""))
		}, "", 0, 0},
		"one that decides nothing": {[]string{""}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			if h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("it was decided")
			}
			h.shows(shows("b"))
			time.Sleep(time.Hour)
			h.shows(shows(""))
		}, "", time.Hour, 0},
		"gone, and a new dialog asks the same": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("a"))
			next := shows("a")
			next.Question.ID = "next"
			if h.decide(*next.Question, thread.Approve) {
				t.Error("it was decided")
			}
			h.shows(next)
		}, "", 0, 0},
		"behind another dialog": {[]string{"a"}, func(t *testing.T, h *hookAsks, _ func()) {
			h.shows(shows("b"))
			time.Sleep(time.Hour)
			h.shows(shows("a"))
			if !h.decide(thread.Question{About: "a"}, thread.Approve) {
				t.Error("it was not decided")
			}
		}, "yes to a", time.Hour, 0},
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

// TestHookAfterItsDialog: a hook that comes once its dialog is shown goes with that dialog.
func TestHookAfterItsDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hookAsks
		h.shows(thread.StateReport{State: thread.StateApproval, Question: &thread.Question{ID: "1", About: "a"}})
		begin, says := time.Now(), make(chan []byte)
		go func() { says <- h.wait(t.Context(), askAbout("a")) }()
		synctest.Wait()
		h.shows(thread.StateReport{State: thread.StateWorking})
		if got := <-says; got != nil || time.Since(begin) != 0 {
			t.Errorf("it says %q after %v", got, time.Since(begin))
		}
	})
}

// TestHookDecidedAtItsEnd: what was decided is said, even if the hook's wait ends in the same moment.
func TestHookDecidedAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := 0
		for range 200 {
			for _, end := range []string{"unseen", "cancelled"} {
				var h hookAsks
				ctx, cancel := context.WithCancel(t.Context())
				says := make(chan []byte, 1)
				go func() { says <- h.wait(ctx, askAbout("a")) }()
				synctest.Wait()
				if end == "unseen" {
					time.Sleep(unseenLimit)
				} else {
					cancel()
				}
				decided := h.decide(thread.Question{About: "a"}, thread.Approve)
				cancel()
				if got := <-says; (got != nil) != decided {
					t.Fatalf("%s: decided: %t, and it says %q", end, decided, got)
				}
				if decided {
					times++
				}
			}
		}
		if times == 0 {
			t.Error("nothing was decided in time")
		}
	})
}

// TestMostHooks: what comes beyond the bound is turned away, and nothing is decided until its dialog must be gone.
func TestMostHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hookAsks
		for range mostHooks {
			go h.wait(t.Context(), askAbout("b"))
		}
		synctest.Wait()
		if says, begin := h.wait(t.Context(), askAbout("a")), time.Now(); says != nil || time.Since(begin) != 0 {
			t.Errorf("one too many says %q", says)
		}
		question := func(about string) thread.StateReport {
			return thread.StateReport{State: thread.StateApproval, Question: &thread.Question{ID: about, About: about}}
		}
		h.shows(question("b"))
		h.shows(question("a"))
		synctest.Wait()
		if len(h.waiting) != 0 {
			t.Errorf("%d wait", len(h.waiting))
		}
		for _, want := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			go h.wait(ctx, askAbout("a"))
			synctest.Wait()
			if got := h.decide(thread.Question{ID: "a", About: "a"}, thread.Approve); got != want {
				t.Errorf("decided: %t, want %t", got, want)
			}
			cancel()
			synctest.Wait()
			h.shows(thread.StateReport{State: thread.StateWorking})
		}
	})
}
