package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// asked is a hold that asks for more.
type asked struct {
	*hold
	err  error
	done bool
}

func ask(ctx context.Context, b *memory, acc *account, n int64) *asked {
	a := &asked{hold: b.hold(acc)}
	go func() {
		a.err = a.take(ctx, n)
		a.done = true
	}()
	synctest.Wait()
	return a
}

func TestBudget(t *testing.T) {
	inBubble := func(name string, test func(t *testing.T, b *memory)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newMemory(800) // a thread's share is 100, 25 of it answered
				test(t, b)
				synctest.Wait()
				if b.held != 0 || len(b.waiting) != 0 {
					t.Errorf("%d bytes are held at the end, %d wait", b.held, len(b.waiting))
				}
			})
		})
	}
	inBubble("a thread's share", func(t *testing.T, b *memory) {
		var one, two account
		first := ask(t.Context(), b, &one, 60)
		second := ask(t.Context(), b, &one, 60)
		third := ask(t.Context(), b, &one, 10) // must not overtake
		other := ask(t.Context(), b, &two, 60)
		if !first.done || second.done || third.done || !other.done {
			t.Errorf("passed: %v %v %v %v", first.done, second.done, third.done, other.done)
		}
		first.release()
		synctest.Wait()
		if !second.done || !third.done {
			t.Error("what was given back helps nobody")
		}
		for _, a := range []*asked{second, third, other} {
			a.release()
		}
	})
	inBubble("all together, in order", func(t *testing.T, b *memory) {
		accs := make([]account, 12)
		var held []*asked
		for i := range 8 {
			held = append(held, ask(t.Context(), b, &accs[i], 95))
		}
		large := ask(t.Context(), b, &accs[8], 90)
		small := ask(t.Context(), b, &accs[9], 10) // would fit, but came later
		if large.done || small.done {
			t.Errorf("passed: %v %v", large.done, small.done)
		}
		held[0].release()
		synctest.Wait()
		if !large.done || !small.done {
			t.Errorf("after 95 of 760 were given back: %v %v", large.done, small.done)
		}
		for _, a := range append(held[1:], large, small) {
			a.release()
		}
	})
	inBubble("larger than all", func(t *testing.T, b *memory) {
		var one, two account
		little := ask(t.Context(), b, &two, 1)
		huge := ask(t.Context(), b, &one, 5000)
		if huge.done {
			t.Error("passed beside another")
		}
		little.release()
		synctest.Wait()
		after := ask(t.Context(), b, &two, 1)
		if !huge.done || after.done {
			t.Errorf("alone: %v, another beside it: %v", huge.done, after.done)
		}
		huge.release()
		synctest.Wait()
		after.release()
	})
	inBubble("who leaves holds up nobody", func(t *testing.T, b *memory) {
		var one, two account
		little := ask(t.Context(), b, &two, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		huge := ask(ctx, b, &one, 5000)
		behind := ask(t.Context(), b, &two, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(huge.err, context.DeadlineExceeded) || !behind.done || behind.err != nil {
			t.Errorf("%v; behind it %v %v", huge.err, behind.done, behind.err)
		}
		huge.release()
		little.release()
		behind.release()
	})
	inBubble("answered and not stored", func(t *testing.T, b *memory) {
		var one account
		h := b.hold(&one)
		h.kept = true
		h.force(26)
		next := ask(t.Context(), b, &one, 1)
		if next.done {
			t.Error("the next request passes")
		}
		h.release()
		h.release()
		synctest.Wait()
		if !next.done {
			t.Error("the next request waits for ever")
		}
		next.release()
	})
	inBubble("answers never wait", func(t *testing.T, b *memory) {
		var one account
		h := b.hold(&one)
		if !h.force(1600) || h.force(1) {
			t.Error("the outer bound is not twice the bound")
		}
		h.release()
	})
}
