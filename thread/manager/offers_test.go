package manager_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

func TestOfferOfAnotherApproach(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		before := w.status(p.ID).Head
		w.turn(p.ID, "let's try another approach: signed cookies")
		offers := w.events.offers()
		if len(offers) != 1 {
			t.Fatalf("%d offers", len(offers))
		}
		o := offers[0]
		if s := w.status(p.ID); s.Offer == nil || s.Offer.ID != o.ID {
			t.Errorf("the thread shows the offer %+v", s.Offer)
		}
		if o.Rule != "approach" || o.Label != "signed cookies" || o.At != before || o.Why == "" || !strings.Contains(o.Prompt, "signed") {
			t.Errorf("offer %+v", o)
		}
		w.turn(p.ID, "let's try a different approach")
		if n := len(w.events.offers()); n != 1 {
			t.Errorf("%d offers: nagging", n)
		}
		if _, err := w.m.Offers.Answer(ctx, o.ID, "perhaps"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("nonsense: %v", err)
		}
		f, err := w.m.Offers.Answer(ctx, o.ID, "take")
		if err != nil || f.Parent != p.ID || f.ForkPoint != before {
			t.Fatalf("taken: %+v %v", f, err)
		}
		synctest.Wait()
		if got := w.sess.of(f.ID).prompts(); got != o.Prompt {
			t.Errorf("sent %q", got)
		}
		if s := w.status(p.ID); s.Offer != nil {
			t.Errorf("it was taken and is still offered: %+v", s.Offer)
		}
		w.turn(f.ID, o.Prompt)
		if s := w.status(f.ID); s.Offer != nil {
			t.Errorf("what the fork was made for is offered again: %+v", s.Offer)
		}
		if _, err := w.m.Offers.Answer(ctx, o.ID, "take"); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("twice: %v", err)
		}
	})
}

func TestOffersOffForGood(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		w.turn(p.ID, "let's try another approach")
		o := w.events.offers()[0]
		if _, err := w.m.Offers.Answer(ctx, o.ID, "off"); err != nil {
			t.Fatal(err)
		}
		w.crash()
		if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			w.turn(p.ID, fmt.Sprintf("let's try another approach %d", i))
		}
		if n := len(w.events.offers()); n != 0 {
			t.Errorf("%d offers though off", n)
		}
		if err := w.m.Offers.SetMode(ctx, thread.OffersSuggest); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			w.turn(p.ID, fmt.Sprintf("let's try another approach, number %d", i))
		}
		if s := w.status(p.ID); s.Offer == nil {
			t.Error("none though offers are on again")
		}
	})
}

func TestOfferWhenToolsFailAlike(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		items := w.natives.conversation(w.status(p.ID).Session)
		items = append(items, item("user", "fix it"))
		for i := range 4 {
			answer := item("assistant", "call")
			items = append(items, answer)
			items = append(items, item("user", fmt.Sprintf("failed: exit status 1 after %d s", i)))
			w.m.Traffic.ExchangeEnded(p.ID, thread.Exchange{Main: true, Status: 200, Items: items, Answer: &answer, Prompt: "fix it", Ended: time.Now()})
		}
		offers := w.events.offers()
		if len(offers) != 1 || offers[0].Rule != "loop" || !strings.Contains(offers[0].Why, "exit status") {
			t.Errorf("offers %+v", offers)
		}
	})
}

func TestOfferInTheEmergencyBand(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		answer := item("assistant", "long")
		w.m.Traffic.ExchangeEnded(p.ID, thread.Exchange{Main: true, Status: 200, Items: []thread.Item{item("user", "x")}, Answer: &answer,
			Prompt: "x", Usage: thread.Usage{Input: 185}, Window: 200, EndsTurn: true, Ended: time.Now()})
		offers := w.events.offers()
		if len(offers) != 1 || offers[0].Rule != "band" || offers[0].At != w.status(p.ID).Head {
			t.Errorf("offers %+v", offers)
		}
		w.full(p.ID, "more") // the open offer tells how full it is now, as the gauge does
		s := w.status(p.ID)
		if s.Offer == nil || !strings.Contains(s.Offer.Why, "105%") || s.Gauge.Share() != 105 {
			t.Errorf("the gauge says %.0f%%, the offer %+v", s.Gauge.Share(), s.Offer)
		}
		for _, step := range []struct {
			tokens int64
			open   bool
		}{{130, true}, {118, false}, {190, true}, {40, false}} { // masked a little, and much; full once more; masked
			w.filled(p.ID, fmt.Sprint("with ", step.tokens), step.tokens)
			if s := w.status(p.ID); (s.Offer != nil) != step.open {
				t.Errorf("at %.0f%%: the offer %+v", s.Gauge.Share(), s.Offer)
			}
		}
	})
}

// full has a thread's agent answer with more in its context than that holds.
func (w *world) full(id thread.ID, prompt string) { w.filled(id, prompt, 210) }

// filled has a thread's agent answer with so many tokens in a context of 200.
func (w *world) filled(id thread.ID, prompt string, tokens int64) {
	w.t.Helper()
	s := w.status(id)
	conv := w.natives.conversation(s.Session)
	answer := item("assistant", "long")
	items := append(conv, item("user", prompt))
	w.natives.append(s.Session, append(items[len(conv):], answer))
	w.m.Traffic.ExchangeEnded(id, thread.Exchange{Main: true, Status: 200, Session: s.Session, Items: items, Answer: &answer,
		Prompt: prompt, Usage: thread.Usage{Input: tokens}, Window: 200, EndsTurn: true, Ended: time.Now()})
	synctest.Wait()
}

// TestFullContextGoesOnInASmallOne takes the offer of a thread that is at 105 %, by a person and by itself: what the
// new agent is told is a summary, and the conversation is not given to it.
func TestFullContextGoesOnInASmallOne(t *testing.T) {
	for _, mode := range []thread.OfferMode{thread.OffersSuggest, thread.OffersAuto} {
		t.Run(string(mode), func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.create(thread.NewRequest{})
				for i := range 20 {
					w.turn(p.ID, fmt.Sprintf("question %d %s", i, strings.Repeat("and more ", 100)))
				}
				rebuilt := w.natives.rebuilt
				w.full(p.ID, "the last one")
				if mode == thread.OffersSuggest {
					if _, err := w.m.Offers.Answer(ctx, w.status(p.ID).Offer.ID, "take"); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				list, err := w.m.Threads.List(ctx)
				if err != nil || len(list) != 2 || list[1].Parent != p.ID || list[1].Execution == nil {
					t.Fatalf("threads %+v %v", list, err)
				}
				f := list[1]
				sent := w.sess.of(f.ID).prompts()
				if n := (len(sent) + 3) / 4; n == 0 || n > 600 || !strings.Contains(sent, "the last one") {
					t.Errorf("the new agent is sent %d tokens:\n%s", n, sent)
				}
				if strings.Contains(w.args(f.ID), "--resume") || w.natives.rebuilt != rebuilt || len(w.natives.conversation(f.Session)) > 0 {
					t.Errorf("the new agent is given the conversation: %s", w.args(f.ID))
				}
				if f.Gauge.Tokens != 0 || w.status(p.ID).Offer != nil || f.Handoff.Metadata.TokenBudget != 600 {
					t.Errorf("fork %+v, offer %+v", f.Thread, w.status(p.ID).Offer)
				}
				// It stays so when its server dies before the first answer, and its own record is resumed from after it.
				w.crash()
				if _, err := w.m.Agents.Start(ctx, f.Name, 0, 0); err != nil || w.natives.rebuilt != rebuilt {
					t.Errorf("started again: %v, %d rebuilt", err, w.natives.rebuilt)
				}
				synctest.Wait()
				w.turn(f.ID, "go on")
				if got := texts(w.natives.conversation(w.status(f.ID).Session)); got != "go on|call|result|answer to go on" {
					t.Errorf("its conversation is %s", got)
				}
				// One is enough: from then on it is the person's.
				for i := range 12 {
					w.full(p.ID, fmt.Sprintf("on and on %d", i))
				}
				if list, err := w.m.Threads.List(ctx); err != nil || len(list) != 2 {
					t.Errorf("%d threads %v", len(list), err)
				}
			}, func(w *world) { w.cfg.Offers, w.cfg.Limits.Primer = mode, 600 })
		})
	}
}

func TestAutoForks(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		if _, err := w.m.Prompts.Ask(ctx, p.Name, thread.AskRequest{Text: "go on"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Prompts.Ask(ctx, p.Name, thread.AskRequest{Text: "let's try another approach: signed cookies"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		list, err := w.m.Threads.List(ctx)
		if err != nil || len(list) != 2 || list[1].Parent != p.ID || list[1].Label != "signed cookies" {
			t.Fatalf("threads %+v %v", list, err)
		}
		if got := w.sess.of(p.ID).prompts(); got != "go on" {
			t.Errorf("the parent was sent %q", got)
		}
		if got := w.sess.of(list[1].ID).prompts(); !strings.Contains(got, "signed cookies") {
			t.Errorf("the fork was sent %q", got)
		}
		if sw := w.events.of(thread.EventSwitch); len(sw) != 1 || sw[0].ThreadID != list[1].ID {
			t.Errorf("switch %+v", sw)
		}
	}, func(w *world) { w.cfg.Offers = thread.OffersAuto })
}

// TestOutgrown: where offers are automatic, a prompt that was not sent because the context is full goes on in one fork,
// which begins with a summary, however often the agent tries.
func TestOutgrown(t *testing.T) {
	for _, mode := range []thread.OfferMode{thread.OffersAuto, thread.OffersSuggest, thread.OffersOff} {
		inWorld(t, func(w *world) {
			p := w.create(thread.NewRequest{})
			w.talk(p.ID, 1, 2)
			var took []bool
			for range 3 {
				took = append(took, w.m.Offers.Outgrown(p.ID, "and now the last step"))
			}
			synctest.Wait()
			list, err := w.m.Threads.List(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if mode != thread.OffersAuto {
				if len(list) != 1 || took[0] {
					t.Errorf("%s: %d threads, %v", mode, len(list), took)
				}
				return
			}
			if len(list) != 2 || !took[0] || list[1].Handoff == nil || !list[1].Handoff.Fresh {
				t.Fatalf("%d threads, %v: %+v", len(list), took, list)
			}
			if sent := w.sess.of(list[1].ID).prompts(); !strings.Contains(sent, "and now the last step") {
				t.Errorf("the fork was sent %q", sent)
			}
			if w.m.Offers.Outgrown(p.ID, "again") || w.m.Offers.Outgrown("nobody", "x") {
				t.Error("it goes on in another fork")
			}
		}, func(w *world) { w.cfg.Offers = mode })
	}
}
