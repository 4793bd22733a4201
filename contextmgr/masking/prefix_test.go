package masking_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestPrefix: between two events, which are masks and summaries that were stored, a request begins with the bytes of the
// one before up to its last item, whatever the conversation is: also with a mark for the cache that moves, after
// restarts, in forks and after the agent went back.
func TestPrefix(t *testing.T) {
	const window = 30_000
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for i, f := range some(t) {
		for j, mode := range []policy.Mode{policy.ModeSafe, policy.ModeLean} {
			t.Run(f.codec.Wire()+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				all := tally{}
				for seed := range seeds {
					w := open(t, f, mode)
					w.window = window
					g := &grower{world: w, Rand: rand.New(rand.NewPCG(seed, uint64(2*i+j))), id: "t1", tally: all, marks: int(seed+1) % 3}
					g.grow(70)
				}
				t.Log(all)
				for what, least := range map[string]int{"masks": 3, "summaries": 1, "restarts": 1, "forks": 1, "back": 1, "quiet": 40} {
					if all[what] < least*int(seeds) {
						t.Errorf("%d %s in %d conversations, want %d", all[what], what, seeds, least*int(seeds))
					}
				}
				if events := all["masks"] + all["summaries"]; events*3 > all["quiet"] {
					t.Errorf("%d events and %d requests between them", events, all["quiet"])
				}
			})
		}
	}
}

// tally counts what happened in conversations.
type tally map[string]int

// grower grows a conversation by chance, and checks each request.
type grower struct {
	*world
	*rand.Rand
	tally
	id    thread.ID
	marks int // how many of the newest items have a mark for the cache

	calls  int
	before shot // the last request
}

// shot is a request and what was stored when it was sent.
type shot struct {
	items     []string // as they are sent without marks
	sent      string
	masks     int
	summaries []string
}

func (g *grower) grow(n int) {
	g.Helper()
	g.items = []string{g.person("fix the bug")}
	for i := range n {
		switch i {
		case n / 4, n / 2, n * 3 / 4: // at least once each
			g.change(i*4/n - 1)
		default:
			g.change(g.IntN(20))
		}
		g.more()
		g.check(g.shoot())
	}
}

// change does what may come between two requests.
func (g *grower) change(what int) {
	switch what {
	case 0:
		g.tally["restarts"]++
		g.restart()
	case 1:
		g.tally["forks"]++
		fork := thread.ID(fmt.Sprint("fork", g.calls))
		g.parents[fork], g.id = g.id, fork
	case 2:
		if len(g.items) > 4 { // behind a result, or it would have no call
			g.tally["back"]++
			g.items = g.items[:len(g.items)-2*(1+g.IntN(2))]
		}
	case 3:
		g.now = g.now.Add(6 * time.Minute)
	}
}

// more adds items that end with something that the model answers.
func (g *grower) more() {
	g.ends = g.IntN(4) == 0
	if g.IntN(3) == 0 {
		g.items = append(g.items, g.call(fmt.Sprint("n", g.calls), g.tool, `{"command":"true"}`),
			g.result(fmt.Sprint("n", g.calls), g.tool, "ok"), g.person(fmt.Sprintf("go on %d %s", g.calls, text(g.calls, g.IntN(900)))),
			g.call(fmt.Sprint("m", g.calls), g.tool, `{"command":"true"}`), g.result(fmt.Sprint("m", g.calls), g.tool, "done"))
	} else {
		for range 1 + g.IntN(2) {
			id, tool, input := fmt.Sprint("c", g.calls), g.tool, fmt.Sprintf(`{"command":"cat file%d"}`, g.calls)
			if g.IntN(2) == 0 {
				tool, input = "Read", fmt.Sprintf(`{"file_path":"/w/file%d.go"}`, g.IntN(6))
			}
			g.items = append(g.items, g.call(id, tool, input), g.result(id, tool, text(g.calls, g.IntN(3000))))
			g.calls++
		}
	}
	g.calls++
}

// shoot sends a request as an agent does.
func (g *grower) shoot() shot {
	g.Helper()
	sent := slices.Clone(g.items)
	for i := max(0, len(sent)-g.marks); i < len(sent); i++ {
		sent[i] = marked(sent[i])
	}
	body := g.body(g.model, strings.Join(sent, ","))
	out := g.Rewrite(g.Context(), gateway.Outgoing{
		Thread: g.id, Codec: g.codec, To: &url.URL{Path: g.path},
		Call:   wire.Call{Path: g.path, Header: http.Header{}, Body: []byte(body)},
		Window: func(string, bool, int64) int64 { return g.window },
		Notice: func(thread.Level, string) {},
	})
	set, err := g.store.Thread(g.id, "")
	if err != nil {
		g.Fatal(err)
	}
	now := shot{items: slices.Clone(g.items), sent: body}
	if out.Body != nil {
		now.sent = string(out.Body)
	}
	for _, m := range set.All() {
		if m.Reason != "summary" {
			now.masks++
		}
	}
	for _, s := range set.Summaries() {
		now.summaries = append(now.summaries, s.ID)
	}
	out.Ended(&thread.Exchange{Status: http.StatusOK, EndsTurn: g.ends, Usage: thread.Usage{CacheRead: int64(len(now.sent)) / 4, Output: 10}})
	g.Settle()
	g.now = g.now.Add(10 * time.Second)
	return now
}

// marked returns an item of Anthropic's format with a mark for the cache; others have none.
func marked(item string) string {
	if head, ok := strings.CutSuffix(item, "}]}"); ok && strings.Contains(item, `"content":[{`) {
		return head + mark + "}]}"
	}
	return item
}

const mark = `,"cache_control":{"type":"ephemeral"}`

// check checks a request against the one before.
func (g *grower) check(now shot) {
	g.Helper()
	before := g.before
	g.before = now
	if before.sent == "" {
		return
	}
	gone := before.masks > now.masks || !slices.Equal(before.summaries, now.summaries[:min(len(now.summaries), len(before.summaries))])
	if gone {
		g.Fatalf("%d masks and %v became %d and %v", before.masks, before.summaries, now.masks, now.summaries)
	}
	same := 0 // items that both have
	for same < len(before.items) && same < len(now.items) && before.items[same] == now.items[same] {
		same++
	}
	switch {
	case now.masks > before.masks:
		g.tally["masks"]++
		return
	case len(now.summaries) > len(before.summaries):
		g.tally["summaries"]++
		return
	}
	if summarised(before.sent) != summarised(now.sent) && same < len(before.items) {
		g.tally["gone"]++ // with what follows it
		return
	}
	was, is := g.head(before, same), now.sent
	if g.marks > 1 { // one is moved away from before the last item
		was, is = strings.ReplaceAll(was, mark, ""), strings.ReplaceAll(is, mark, "")
	}
	if !strings.HasPrefix(is, was) {
		at := 0
		for at < len(was) && at < len(is) && was[at] == is[at] {
			at++
		}
		g.Fatalf("without an event, after %d bytes of %d\n%.300s\nbecomes\n%.300s", at, len(was), was[max(0, at-50):], is[min(len(is), max(0, at-50)):])
	}
	g.tally["quiet"]++
	g.tally["masked"] += strings.Count(was, "[Masked: ")
}

// head returns a request up to the last of its first items.
func (g *grower) head(of shot, items int) string {
	g.Helper()
	spans := func(body string) []wire.Span {
		scan, err := g.codec.Scan(wire.Call{Path: g.path, Header: http.Header{}, Body: []byte(body)}, nil)
		if err != nil {
			g.Fatalf("%v in %.300q", err, body)
		}
		return scan.Items
	}
	behind := len(spans(g.body(g.model, strings.Join(of.items[items:], ",")))) // an item may be several of the wire
	all := spans(of.sent)
	return of.sent[:all[len(all)-behind-1].Start]
}
