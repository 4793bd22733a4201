package thread_test

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
		if _, err := w.m.AnswerOffer(ctx, o.ID, "perhaps"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("nonsense: %v", err)
		}
		f, err := w.m.AnswerOffer(ctx, o.ID, "take")
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
		if _, err := w.m.AnswerOffer(ctx, o.ID, "take"); !errors.Is(err, thread.ErrNotFound) {
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
		if _, err := w.m.AnswerOffer(ctx, o.ID, "off"); err != nil {
			t.Fatal(err)
		}
		w.crash()
		if _, err := w.m.Start(ctx, p.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			w.turn(p.ID, fmt.Sprintf("let's try another approach %d", i))
		}
		if n := len(w.events.offers()); n != 0 {
			t.Errorf("%d offers though off", n)
		}
		if err := w.m.SetOffers(ctx, thread.OffersSuggest); err != nil {
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
			w.m.ExchangeEnded(p.ID, thread.Exchange{Main: true, Status: 200, Items: items, Answer: &answer, Prompt: "fix it", Ended: time.Now()})
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
		w.m.ExchangeEnded(p.ID, thread.Exchange{Main: true, Status: 200, Items: []thread.Item{item("user", "x")}, Answer: &answer,
			Prompt: "x", Usage: thread.Usage{Input: 185}, Window: 200, EndsTurn: true, Ended: time.Now()})
		offers := w.events.offers()
		if len(offers) != 1 || offers[0].Rule != "band" || offers[0].At != w.status(p.ID).Head {
			t.Errorf("offers %+v", offers)
		}
	})
}

func TestAutoForks(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		if _, err := w.m.Ask(ctx, p.Name, thread.AskRequest{Text: "go on"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Ask(ctx, p.Name, thread.AskRequest{Text: "let's try another approach: signed cookies"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		list, err := w.m.List(ctx)
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
