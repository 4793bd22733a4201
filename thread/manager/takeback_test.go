package manager_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// missed has a thread's agent call a tool, which returns a text.
func (w *world) missed(id thread.ID, prompt, tool, says string) {
	w.t.Helper()
	s := w.status(id)
	conv := w.natives.conversation(s.Session)
	raw, err := json.Marshal(map[string]string{"role": "result", "tool": tool, "text": says})
	if err != nil {
		w.t.Fatal(err)
	}
	items := append(conv, item("user", prompt), item("assistant", "call"), thread.Item{Wire: "test", Raw: raw})
	answer := item("assistant", "so be it")
	w.natives.append(s.Session, append(items[len(conv):], answer))
	w.m.Traffic.ExchangeEnded(id, thread.Exchange{
		Main: true, Status: 200, Session: s.Session, Items: items, Answer: &answer, Prompt: prompt, Text: "so be it", EndsTurn: true,
		Ended: w.now(), Usage: thread.Usage{Input: 84_000}, Window: 1_000_000,
	})
	synctest.Wait()
}

const noWorkflow = "failed: No such tool available: Workflow"

// TestToolOfferedBack: an agent that asks for a tool that is left out gets it by one answer: it is started again, with
// its conversation, once it waits.
func TestToolOfferedBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		if w.without(p.ID) != "loops,skills,workflows" {
			t.Fatalf("started with %s", w.args(p.ID))
		}
		w.turn(p.ID, "hello")
		w.missed(p.ID, "use a workflow", "Workflow", noWorkflow)
		w.missed(p.ID, "again", "Workflow", noWorkflow)
		offers := w.events.offers()
		if len(offers) != 1 {
			t.Fatalf("%d offers: %+v %+v", len(offers), offers[0], offers[len(offers)-1])
		}
		o := offers[0]
		if o.Lever != "workflows" || o.Says(p.Gauge) != "needs Workflow, which its base leaves out · restart with it" ||
			!strings.Contains(o.Why, "up to 84k tokens are written to the provider's cache again, which costs") {
			t.Errorf("offered %q: %+v", o.Says(p.Gauge), o)
		}
		items := thread.Inbox([]thread.Status{w.status(p.ID)}, nil, nil)
		if !slices.ContainsFunc(items, func(i thread.InboxItem) bool {
			return i.Kind == thread.InboxOffer && strings.Contains(i.Text, "Workflow")
		}) {
			t.Errorf("the inbox has %+v", items)
		}
		if _, err := w.m.Offers.Answer(ctx, o.ID, "perhaps"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("nonsense: %v", err)
		}
		w.m.Traffic.RequestStarted(p.ID, thread.Begun{Main: true, At: w.now()}) // it works
		before, session := w.sess.of(p.ID), w.status(p.ID).Session
		if _, err := w.m.Offers.Answer(ctx, o.ID, "take"); err != nil {
			t.Fatal(err)
		}
		w.pass(10)
		if w.sess.of(p.ID) != before {
			t.Error("an agent at work was stopped")
		}
		if b := w.status(p.ID).Base; !slices.Contains(b.Left, "workflows") || !slices.Equal(b.NextKeep, []string{"workflows"}) {
			t.Errorf("until it is started again its base is %+v", b)
		}
		w.missed(p.ID, "more", "Read", "result")
		w.pass(10)
		if w.sess.of(p.ID) == before || !strings.Contains(w.args(p.ID), "--resume "+session) || w.without(p.ID) != "loops" {
			t.Errorf("it was started with %s", w.args(p.ID)) // skills need workflows
		}
		if told := w.about("has Workflow again"); len(told) != 1 || !strings.HasPrefix(told[0], p.Name) {
			t.Errorf("told %q", told)
		}
		w.missed(p.ID, "once more", "Workflow", noWorkflow)
		if s := w.status(p.ID); s.Offer != nil {
			t.Errorf("what it has is offered: %+v", s.Offer)
		}
		if got := texts(w.natives.conversation(w.status(p.ID).Session)); !strings.HasPrefix(got, "hello|call") {
			t.Errorf("its conversation is %s", got)
		}
	}, slim(&slimAgent{}))
}

// TestRestartTakenBack: an agent is not started again for what the person has taken back meanwhile.
func TestRestartTakenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.missed(p.ID, "use a workflow", "Workflow", noWorkflow)
		w.m.Traffic.RequestStarted(p.ID, thread.Begun{Main: true, At: w.now()}) // it works
		before := w.sess.of(p.ID)
		if _, err := w.m.Offers.Answer(ctx, w.status(p.ID).Offer.ID, "take"); err != nil {
			t.Fatal(err)
		}
		w.setBase(p.ID, "slim")
		w.missed(p.ID, "more", "Read", "result")
		w.pass(10)
		if w.sess.of(p.ID) != before || len(w.about("has Workflow again")) > 0 {
			t.Error("it was started again")
		}
	}, slim(&slimAgent{}))
}

// TestLeverInTheWay: an offer that an agent brings about by asking for a tool does not take the place of another, goes
// once the person has set another profile, and is not made where offers are off.
func TestLeverInTheWay(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.m.Offers.SuggestMCP(p.ID, "github", "the prompt speaks of it")
		w.missed(p.ID, "use a workflow", "Workflow", noWorkflow)
		if o := w.status(p.ID).Offer; o == nil || o.Server != "github" {
			t.Fatalf("shown is %+v", o)
		}
		if _, err := w.m.Offers.Answer(ctx, w.status(p.ID).Offer.ID, "dismiss"); err != nil {
			t.Fatal(err)
		}
		if o := w.status(p.ID).Offer; o == nil || o.Lever != "workflows" {
			t.Fatalf("then %+v", o)
		}
		w.setBase(p.ID, "full")
		if o := w.status(p.ID).Offer; o != nil {
			t.Errorf("with what comes with its next start: %+v", o)
		}
		two := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		three := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.missed(two.ID, "use a workflow", "Workflow", noWorkflow)
		w.missed(three.ID, "use a workflow", "Workflow", noWorkflow)
		if _, err := w.m.Offers.Answer(ctx, w.status(two.ID).Offer.ID, "off"); err != nil {
			t.Fatal(err)
		}
		if o := w.status(three.ID).Offer; o != nil {
			t.Errorf("turned off, and still offered elsewhere: %+v", o)
		}
	}, slim(&slimAgent{}))
	inWorld(t, func(w *world) {
		off := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		if err := w.m.Offers.SetMode(ctx, thread.OffersOff); err != nil {
			t.Fatal(err)
		}
		w.missed(off.ID, "use a workflow", "Workflow", noWorkflow)
		if o := w.status(off.ID).Offer; o != nil {
			t.Errorf("though off: %+v", o)
		}
	}, slim(&slimAgent{}))
}

// TestToolNotOffered: nothing is offered for what is there, for what another tool's output quotes, and for what the
// person declined in that thread.
func TestToolNotOffered(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.missed(p.ID, "one", "Workflow", "failed: No such tool available: Frobnicate")
		w.missed(p.ID, "one more", "Read", "what a file has: "+noWorkflow)
		w.missed(p.ID, "two", "Workflow", strings.Repeat("long ", 2000)+noWorkflow)
		full := w.create(thread.NewRequest{Agent: "slim", Base: "full"})
		w.missed(full.ID, "three", "Workflow", noWorkflow)
		plain := w.create(thread.NewRequest{Agent: "plain"})
		w.missed(plain.ID, "four", "Workflow", noWorkflow)
		if offers := w.events.offers(); len(offers) != 0 {
			t.Fatalf("offered %+v", offers[0])
		}
		w.missed(p.ID, "five", "Workflow", noWorkflow)
		if _, err := w.m.Offers.Answer(ctx, w.status(p.ID).Offer.ID, "dismiss"); err != nil {
			t.Fatal(err)
		}
		w.crash()
		w.startAgain(p.ID)
		w.missed(p.ID, "six", "Workflow", noWorkflow)
		if s := w.status(p.ID); s.Offer != nil {
			t.Errorf("offered again: %+v", s.Offer)
		}
		w.missed(p.ID, "seven", "CronCreate", "failed: No such tool available: CronCreate")
		if s := w.status(p.ID); s.Offer == nil || s.Offer.Needs != "CronCreate" {
			t.Errorf("another tool: %+v", s.Offer)
		}
		f := w.fork(thread.ForkRequest{Thread: p.Name})
		w.missed(f.ID, "eight", "Workflow", noWorkflow)
		s := w.status(f.ID)
		if s.Offer == nil || s.Offer.Needs != "Workflow" {
			t.Fatalf("in a fork: %+v", s.Offer)
		}
		if _, err := w.m.Offers.Answer(ctx, s.Offer.ID, "off"); err != nil {
			t.Fatal(err)
		}
		w.crash()
		other := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.missed(other.ID, "nine", "Workflow", noWorkflow)
		if s := w.status(other.ID); s.Offer != nil {
			t.Errorf("offered though off: %+v", s.Offer)
		}
	}, slim(&slimAgent{}))
}

// TestPromptOffersBack: a prompt of the person that speaks of what is left out is sent as it is, with an offer; one of
// another agent has none.
func TestPromptOffersBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.turn(p.ID, "hello")
		ask := func(r thread.AskRequest) {
			t.Helper()
			if _, err := w.m.Prompts.Ask(ctx, p.Name, r); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		ask(thread.AskRequest{Text: "/loop 5m from an agent", Agent: true})
		ask(thread.AskRequest{Text: "read src/loop and `review`"})
		if s := w.status(p.ID); s.Offer != nil {
			t.Errorf("offered %+v", s.Offer)
		}
		w.turn(p.ID, "/loop 5m from an agent")
		w.turn(p.ID, "read src/loop and `review`")
		const loop = "/loop 5m check the build"
		ask(thread.AskRequest{Text: loop})
		s := w.status(p.ID)
		if s.Offer == nil || s.Offer.Lever != "loops" || s.Offer.Needs != "ScheduleWakeup" || !strings.Contains(s.Offer.Why, `speaks of "/loop"`) {
			t.Fatalf("offered %+v", s.Offer)
		}
		w.turn(p.ID, loop)
		if sent := strings.Split(w.sess.of(p.ID).prompts(), "\n---\n"); sent[len(sent)-1] != loop {
			t.Errorf("sent %q", sent)
		}
		f, err := w.m.Offers.Answer(ctx, s.Offer.ID, "fork")
		synctest.Wait()
		if err != nil || f.Parent != p.ID || w.without(f.ID) != "skills,workflows" {
			t.Errorf("forked: %v, %s", err, w.args(f.ID))
		}
		if b := w.status(p.ID).Base; b.Next != "" || len(b.Keep) != 0 || !slices.Contains(b.Left, "loops") {
			t.Errorf("its parent has %+v", b)
		}
		w.m.Traffic.Hook(p.ID, "UserPromptSubmit", []byte(`{"prompt":"and now use a workflow"}`)) // typed in the agent itself
		synctest.Wait()
		if s := w.status(p.ID); s.Offer == nil || s.Offer.Lever != "workflows" {
			t.Errorf("of a prompt in the pane: %+v", s.Offer)
		}
	}, slim(&slimAgent{}))
}

// pass lets seconds pass.
func (w *world) pass(seconds int) {
	time.Sleep(time.Duration(seconds) * time.Second)
	synctest.Wait()
}

// TestRestartWaitsForTheInput: what a person has typed and not sent is not lost by a restart.
func TestRestartWaitsForTheInput(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "slim", Base: "slim"})
		w.missed(p.ID, "use a workflow", "Workflow", noWorkflow)
		before := w.sess.of(p.ID)
		before.draft("half a prom")
		if _, err := w.m.Offers.Answer(ctx, w.status(p.ID).Offer.ID, "take"); err != nil {
			t.Fatal(err)
		}
		w.pass(60)
		if w.sess.of(p.ID) != before {
			t.Fatal("it was restarted while somebody typed to it")
		}
		before.draft("")
		w.pass(5)
		if w.sess.of(p.ID) == before {
			t.Error("it was not restarted")
		}
	}, slim(&slimAgent{}))
}
