package ledger_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestToldByFile: a sub-agent of which no request was seen has a row by what its CLI has written down of it: a claim, with
// its prompt, final message, type and usage, once, in whichever order its hooks come, and if the file is read again. Where
// requests were seen the file tells nothing.
func TestToldByFile(t *testing.T) {
	tell := func(b *bench) {
		calling := thread.SubAgent{Key: "k", Type: "Explore", Told: true, First: true}
		b.l.Exchange(theThread, thread.Exchange{Sub: calling, Prompt: "look there", Text: "I look.", Tools: []string{"Read"}, Model: "m-2",
			Usage: tokens, Status: 200, Started: time.Now(), Ended: time.Now()})
		calling.First = false
		b.l.Exchange(theThread, thread.Exchange{Sub: calling, Prompt: "look there", Text: "found", Model: "m-2", Usage: tokens, Status: 200,
			Started: time.Now(), Ended: time.Now()})
	}
	hook := func(ended bool) func(*bench) {
		return func(b *bench) {
			r := thread.SubReport{Key: "k", Type: "Explore", Ended: ended}
			if ended {
				r.Said = "found"
			}
			b.l.Hook(theThread, r)
		}
	}
	ask := func(b *bench) { b.side(thread.SubAgent{Key: "k", Type: "Explore"}, "look there", "found", "") }
	rest := func(*bench) { time.Sleep(10 * time.Second) }
	for name, c := range map[string]struct {
		do      []func(*bench)
		output  int64
		claimed bool
	}{
		"file only":         {[]func(*bench){tell, rest}, 2, true},
		"file twice":        {[]func(*bench){tell, tell, rest}, 2, true},
		"file after rest":   {[]func(*bench){tell, rest, tell, rest}, 2, true},
		"hooks, file":       {[]func(*bench){hook(false), hook(true), tell, rest}, 2, true},
		"hook, file, hook":  {[]func(*bench){hook(false), tell, hook(true), rest}, 2, true},
		"file, hooks":       {[]func(*bench){tell, hook(false), hook(true)}, 2, true},
		"seen, file":        {[]func(*bench){ask, rest, tell, rest}, 1, false},
		"hooks, seen, file": {[]func(*bench){hook(false), ask, hook(true), tell}, 1, false},
	} {
		run(t, func(b *bench) {
			for _, do := range c.do {
				do(b)
				synctest.Wait()
			}
			list := b.natives()
			if len(list) != 1 {
				t.Fatalf("%s: %d rows", name, len(list))
			}
			x := list[0]
			given, said := b.text(x.ID, work.KindGiven), b.text(x.ID, work.KindSaid)
			if x.State != work.Completed || x.Claimed != c.claimed || x.Type != "Explore" || x.Usage.Output != c.output || x.Key != "k" ||
				x.Answer != "found" || !slices.Equal(given, []string{"look there"}) || !slices.Equal(said, []string{"found"}) {
				t.Errorf("%s: given %q, said %q: %+v", name, given, said, x)
			}
		})
	}
}
