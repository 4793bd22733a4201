package masking_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// These tests send conversations through a gateway in front of a provider, as agents do, while something goes wrong.

// passing opens a world with a gateway whose windows have so many tokens.
func passing(t *testing.T, f format, window int64) *through {
	t.Helper()
	return open(t, f, policy.ModeLean).through(map[string]int64{"*": window})
}

// talk adds steps to the conversation and sends each; it returns what the provider got last.
func (p *through) talk(steps int) (sent string) {
	p.Helper()
	if len(p.items) == 0 {
		p.items = []string{p.person("fix the bug")}
	}
	for range steps {
		p.step(len(p.items)/2, 1500)
		sent = p.ask(p.conversation())
	}
	return sent
}

// stubs returns the texts that stand in place of masked results.
func stubs(sent string) []string { return stub.FindAllString(sent, -1) }

// goesOn checks that a request begins as one before, up to its last item.
func (w *world) goesOn(before, now string) {
	w.Helper()
	if !strings.HasPrefix(w.list(now), w.list(before)) {
		w.Error("a request does not begin as the one before")
	}
}

// TestProviderNeverAnswers: what was decided for a request that gets no answer holds for its repetition, and nobody
// waits for the answer: neither another request of the thread, nor another thread, nor a person who looks.
func TestProviderNeverAnswers(t *testing.T) {
	for _, f := range some(t) {
		p := passing(t, f, 100_000)
		before := p.talk(12)
		if len(stubs(before)) > 0 {
			t.Fatalf("%s: masked already", f.codec.Wire())
		}
		for range 30 { // until this would mask
			p.step(len(p.items)/2, 1500)
		}
		arrived := make(chan struct{}, 1)
		p.set(func(p *provider) {
			p.before = func(ctx context.Context) bool {
				arrived <- struct{}{}
				<-ctx.Done()
				return false
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		body := p.conversation()
		go func() {
			_, err := p.request(ctx, "t1", []byte(body), nil)
			over <- err
		}()
		<-arrived
		silent := p.got()
		if len(stubs(silent)) < 5 {
			t.Fatalf("%s: %d masks", f.codec.Wire(), len(stubs(silent)))
		}
		p.set(func(p *provider) { p.before = nil })
		for _, id := range []thread.ID{"t1", "t2"} {
			resp, err := p.request(t.Context(), id, []byte(body), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s waits for an answer to another request: %v", f.codec.Wire(), id, err)
			}
			if id == "t1" && p.got() != silent {
				t.Errorf("%s: the same request is sent in another way", f.codec.Wire())
			}
		}
		if r, err := p.Report("t1"); err != nil || r.Masked == 0 {
			t.Errorf("%s: %d tokens are masked (%v)", f.codec.Wire(), r.Masked, err)
		}
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		p.sent += 3
		p.ended(t, p.sent)
		p.restart()
		if got := p.ask(body); got != silent {
			t.Errorf("%s: after a restart the same request is sent in another way", f.codec.Wire())
		}
		p.goesOn(silent, p.talk(1))
	}
}

// TestAnswersAtOnce: an answer that comes before anything beside the request was done changes nothing.
func TestAnswersAtOnce(t *testing.T) {
	for _, f := range some(t) {
		p := passing(t, f, 100_000)
		p.items = []string{p.person("fix the bug")}
		last, events := "", 0
		for i := range 80 {
			p.step(i, 1500)
			if _, err := p.request(t.Context(), "t1", []byte(p.conversation()), nil); err != nil { // nobody waits for its end
				t.Fatal(err)
			}
			list := p.list(p.got())
			if !strings.HasPrefix(list, last) {
				events++
			}
			last = list
		}
		if events < 1 || events > 16 || len(stubs(last)) < 10 {
			t.Errorf("%s: %d decisions, %d masks", f.codec.Wire(), events, len(stubs(last)))
		}
		p.sent = 80
		p.ended(t, p.sent)
		for _, m := range stub.FindAllStringSubmatch(last, -1) {
			if _, content, err := p.store.Open(thread.Token(m[5])); err != nil || !strings.HasPrefix(string(content), "0") {
				t.Errorf("%s: %s is %.40q (%v)", f.codec.Wire(), m[5], content, err)
			}
		}
	}
}

// TestTwoSessionsAtOnce: two agents in one thread, whose requests are under way at the same time, get each their own
// conversation: what is masked of one stays masked, nothing of the other is in it, and few requests do not begin with the
// one before.
func TestTwoSessionsAtOnce(t *testing.T) {
	const steps = 50
	p := passing(t, formats()[0], 100_000)
	var both sync.WaitGroup
	for _, session := range []string{"one", "two"} {
		both.Go(func() {
			items := []string{p.person("the bug of " + session)}
			masked := map[string]bool{}
			for i := range steps {
				id := fmt.Sprint(session, i)
				items = append(items, p.call(id, p.tool, `{"command":"ls"}`), p.result(id, p.tool, session+text(i, 1500)))
				body := p.body(p.model, strings.Join(items, ","))
				sent, err := p.own(session, body)
				if err != nil {
					t.Error(err)
					return
				}
				now := map[string]bool{}
				for _, s := range stubs(sent) {
					now[s] = true
				}
				for s := range masked {
					if !now[s] {
						t.Errorf("%s, request %d: %s is not sent any more", session, i, s)
					}
				}
				masked = now
				if n := strings.Count(sent, `"tool_result"`); n != i+1 || strings.Contains(sent, "the bug of "+session) == strings.Contains(sent, other(session)+"0") {
					t.Errorf("%s, request %d: %d results, or some of the other", session, i, n)
				}
			}
			if len(masked) < 10 {
				t.Errorf("%s: %d masks", session, len(masked))
			}
		})
	}
	both.Wait()
	p.ended(t, 2*steps)
	if got := p.heard.notices(); len(got) > 0 {
		t.Errorf("people were told %q", got)
	}
}

func other(session string) string {
	if session == "one" {
		return "two"
	}
	return "one"
}

// own sends a request of a session and returns what the provider got of it.
func (p *through) own(session, body string) (string, error) {
	resp, err := p.request(p.Context(), "t1", []byte(body), http.Header{"X-Claude-Code-Session-Id": {session}})
	if err != nil {
		return "", err
	}
	sent, ok := p.with(resp.Header.Get(sumHeader))
	if !ok {
		return "", fmt.Errorf("request of %s: status %d", session, resp.StatusCode)
	}
	return sent, nil
}

// TestHistoryIsEdited: an agent that changes its history in the middle of what is masked, removes something there or goes
// back into it, gets what it wrote; what it left stays masked in the same bytes.
func TestHistoryIsEdited(t *testing.T) {
	for _, f := range some(t) {
		p := passing(t, f, 100_000)
		last := p.talk(60)
		const step, at = 4, 10 // its result
		was := stubs(last)
		if len(was) < 10 {
			t.Fatalf("%s: %d masks", f.codec.Wire(), len(was))
		}
		token := thread.Token(stub.FindStringSubmatch(was[step])[5])
		if _, content, err := p.store.Open(token); err != nil || string(content) != text(step, 1500) {
			t.Fatalf("%s: %s is %.40q (%v)", f.codec.Wire(), token, content, err)
		}
		head := last[:strings.Index(last, "call_3")]
		items := p.items
		for _, change := range []struct {
			what  string
			same  bool // the result
			after bool // what follows it is there
			do    func()
		}{
			{"edited", false, true, func() { p.items[at] = p.result("call_4", p.tool, "only this") }},
			{"made longer", false, true, func() { p.items[at] = p.result("call_4", p.tool, text(step, 1500)+"more") }},
			{"of another call", false, true, func() {
				p.items[at-1], p.items[at] = p.call("other", p.tool, `{"command":"ls"}`), p.result("other", p.tool, text(step, 1500))
			}},
			{"removed", false, true, func() { p.items = slices.Delete(p.items, at-1, at+1) }},
			{"inserted", true, true, func() { p.items = slices.Insert(p.items, at+1, p.person("by the way")) }},
			{"back", true, false, func() { p.items = p.items[:at+1] }},
			{"back, then on", true, false, func() { p.items = append(p.items[:at+1], p.person("no, so")) }},
			{"as it was", true, true, func() {}},
		} {
			p.items = slices.Clone(items)
			change.do()
			sent := p.ask(p.conversation())
			p.checkPairs(sent)
			if !strings.HasPrefix(sent, head) {
				t.Errorf("%s, %s: another beginning is sent", f.codec.Wire(), change.what)
			}
			for i, s := range was {
				want := i < step || i == step && change.same || i > step && change.after
				if strings.Contains(sent, s) != want {
					t.Errorf("%s, %s: mask %d is sent: %v, want %v", f.codec.Wire(), change.what, i, !want, want)
				}
			}
			if change.what == "edited" && !strings.Contains(sent, p.items[at]) {
				t.Errorf("%s: the new result is not sent", f.codec.Wire())
			}
		}
	}
}

// TestLargeRequest: a request of 30 MB with ten thousand results is masked, and its repetition is the same.
func TestLargeRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it sends 30 MB; `go test -run TestLargeRequest ./contextmgr/masking` runs it")
	}
	p := passing(t, formats()[0], 10_000_000)
	p.items = []string{p.person("fix the bug")}
	for i := range 10_000 {
		p.step(i, 650)
	}
	body := p.conversation()
	if len(body) < 30<<20 {
		t.Fatalf("%d bytes", len(body))
	}
	sent := p.ask(body)
	if n := len(stubs(sent)); n < 9000 || len(sent)*3 > len(body) {
		t.Errorf("%d masks, %d of %d bytes are sent", n, len(sent), len(body))
	}
	if again := p.ask(body); again != sent {
		t.Error("the same request is sent in another way")
	}
	if got := p.heard.notices(); len(got) > 0 {
		t.Errorf("people were told %q", got)
	}
}

// TestClockJumps: a clock that goes back changes nothing, and one that goes forward a day masks at most what a lost cache
// allows; what is masked stays as it is.
func TestClockJumps(t *testing.T) {
	for _, f := range some(t) {
		p := passing(t, f, 400_000)
		last := p.talk(25)
		if len(stubs(last)) > 0 {
			t.Fatalf("%s: masked already", f.codec.Wire())
		}
		jump := func(by time.Duration) string {
			p.now = p.now.Add(by) // nothing is under way
			return p.talk(1)
		}
		for range 3 {
			now := jump(-time.Hour)
			p.goesOn(last, now)
			last = now
		}
		if now := jump(4 * time.Hour); len(stubs(now)) == 0 {
			t.Errorf("%s: nothing is masked after a pause of hours", f.codec.Wire())
		} else {
			last = now
		}
		now := jump(-time.Hour)
		p.goesOn(last, now)
		last = now
		was := stubs(last)
		now = jump(24 * time.Hour)
		for _, s := range was {
			if !strings.Contains(now, s) {
				t.Errorf("%s: %s is not sent after a day", f.codec.Wire(), s)
			}
		}
		p.goesOn(now, p.talk(1))
	}
}

// TestUsageOverTheWindow: a provider that answers a request and counts more tokens than the window has, has a larger
// window or counts wrongly, and one that counts nonsense has counted nothing: people are warned, nothing is refused, and the
// next count is believed again.
func TestUsageOverTheWindow(t *testing.T) {
	for _, f := range some(t) {
		for _, usage := range []int{150_000, 1 << 40, 1<<62 + 1} {
			p := passing(t, f, 100_000)
			p.wayOut = "Fork it."
			p.talk(5)
			p.set(func(p *provider) { p.usage = func([]byte) int { return usage } })
			p.talk(1)
			r, err := p.Report("t1")
			if err != nil || r.Tokens < 150_000 && usage < 1<<40 || r.Tokens > 20_000 && usage >= 1<<40 || r.Window != 100_000 {
				t.Errorf("%s, %d: %d of %d tokens (%v)", f.codec.Wire(), usage, r.Tokens, r.Window, err)
			}
			p.set(func(p *provider) { p.usage = func(body []byte) int { return len(body) / 4 } })
			p.items = append(p.items, p.person("and now this"))
			p.ask(p.conversation())
			if r, err = p.Report("t1"); err != nil || r.Tokens > 20_000 || r.Tokens < 1000 {
				t.Errorf("%s, %d: %d tokens after a right count (%v)", f.codec.Wire(), usage, r.Tokens, err)
			}
			if told := p.heard.notices(); len(told) != 1 {
				t.Errorf("%s, %d: people were told %q", f.codec.Wire(), usage, told)
			}
		}
	}
}

// TestForeignTokens: a result with a token of staged data, whose data may be gone, is masked with it, and comes back as
// it was; reading a token again is not masked.
func TestForeignTokens(t *testing.T) {
	for _, f := range some(t) {
		p := passing(t, f, 100_000)
		const gone = "max:0badf00d"
		old := "staged as " + gone + "\n" + text(0, 1500)
		p.items = []string{p.person("fix the bug"), p.call("old", p.tool, `{"command":"cat log"}`), p.result("old", p.tool, old)}
		again := p.result("again", p.tool, text(99, 1500))
		p.items = append(p.items, p.call("again", p.tool, `{"command":"orchestrator retrieve `+gone+`"}`), again)
		sent := p.talk(60)
		if strings.Contains(sent, "staged as") || !strings.Contains(sent, again) {
			t.Errorf("%s: the old result is not masked, or what was retrieved is", f.codec.Wire())
		}
		found := stub.FindStringSubmatch(sent)
		if found == nil {
			t.Fatal("nothing is masked")
		}
		if _, content, err := p.store.Open(thread.Token(found[5])); err != nil || string(content) != old {
			t.Errorf("%s: %s is %.60q (%v)", f.codec.Wire(), found[5], content, err)
		}
		if _, _, err := p.store.Open(gone); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%s: %s: %v", f.codec.Wire(), gone, err)
		}
		p.restart()
		if now := p.ask(p.conversation()); !strings.Contains(now, found[0]) {
			t.Errorf("%s: after a restart %s is not sent", f.codec.Wire(), found[0])
		}
	}
}
