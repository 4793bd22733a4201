package ledger_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestForgetsTexts: what sub-agents have said is not kept in memory once it is stored, while their process goes on.
func TestForgetsTexts(t *testing.T) {
	run(t, func(b *bench) {
		before := heap()
		for i := range 60 {
			b.side(thread.SubAgent{Key: fmt.Sprint("k", i)}, "p", strings.Repeat(fmt.Sprint(i, " "), 200_000), "")
		}
		time.Sleep(time.Minute)
		for _, n := range b.natives() {
			if said := b.text(n.ID, work.KindSaid); n.State != work.Completed || len(said) != 1 || len(said[0]) < 300_000 {
				t.Fatalf("%s with %d texts", n.State, len(said))
			}
		}
		b.store.mu.Lock()
		clear(b.events)
		b.store.mu.Unlock()
		if more := heap() - before; more > 8<<20 {
			t.Errorf("%d MB are kept", more>>20)
		}
		b.row() // and the ledger is still there
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBeginsAgainAfterEnd: a conversation without an id begins again after the end of its process, while a request of it is
// still open.
func TestBeginsAgainAfterEnd(t *testing.T) {
	run(t, func(b *bench) {
		first, later := thread.SubAgent{Key: "c", Made: true, First: true}, thread.SubAgent{Key: "c", Made: true}
		b.side(first, "p", "", "x")
		b.l.Began(theThread, thread.Begun{Sub: later, At: time.Now()})
		b.end(thread.Exit{}, true)
		b.l.Began(theThread, thread.Begun{Sub: first, At: time.Now()})
		b.l.Exchange(theThread, thread.Exchange{Sub: later, Usage: tokens, Answer: &thread.Item{}, Text: "late", Ended: time.Now()})
		synctest.Wait()
		list := b.natives()
		if len(list) != 1 || list[0].State != work.Cancelled || list[0].Usage.Output != 2 || list[0].Answer != "late" {
			t.Errorf("%+v", list)
		}
	})
}
