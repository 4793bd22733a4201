package sqlite_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// talk is a conversation under test: what each response adds.
type talk struct {
	t      testing.TB
	s      *sqlite.Store
	id     thread.ID
	head   thread.Checkpoint
	file   int64 // size of the native file
	bytes  int64 // content put so far: items and native lines
	native bool  // put native lines beside the items

	last, said string // what remark put last
}

func newTalk(t testing.TB, s *sqlite.Store, name string) *talk {
	t.Helper()
	k := &talk{t: t, s: s, id: thread.NewID[thread.ID]()}
	if err := s.CreateThread(t.Context(), thread.Thread{
		ID: k.id, Name: name, Agent: "claude", Dir: "/home/user/project", Created: time.Unix(1e9, 0),
	}); err != nil {
		t.Fatal(err)
	}
	return k
}

// say puts one response: items, and the native lines that hold the same.
func (k *talk) say(texts ...string) {
	k.t.Helper()
	k.put(k.next(texts...))
}

// next makes what say puts.
func (k *talk) next(texts ...string) (thread.Checkpoint, thread.Delta) {
	d := thread.Delta{Keep: k.head.Items}
	var chunk []byte
	for i, text := range texts {
		role := "user"
		if i == len(texts)-1 {
			role = "assistant"
		}
		raw, _ := json.Marshal(map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}})
		d.Items = append(d.Items, thread.Item{Wire: "anthropic", Raw: raw})
		k.bytes += int64(len(raw))
		if k.native {
			line, _ := json.Marshal(map[string]any{"uuid": thread.NewID[thread.ID]() + thread.NewID[thread.ID](),
				"parentUuid": thread.NewID[thread.ID](),
				"sessionId":  k.id, "timestamp": time.Unix(1e9+k.bytes, k.bytes), "cwd": "/home/user/project", "type": role,
				"message": json.RawMessage(raw)})
			chunk = append(append(chunk, line...), '\n')
		}
	}
	if k.native {
		d.Transcript = []thread.Chunk{{File: "main", Offset: k.file, Data: chunk}}
		k.file += int64(len(chunk))
		k.bytes += int64(len(chunk))
	}
	return thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: k.id, Parent: k.head.ID,
		Turn: k.head.Turn + 1, Kind: thread.KindTurn,
		Created: time.Unix(1e9+int64(k.head.Turn), 123456789), Prompt: first(texts[0], 2000),
		Answer: first(texts[len(texts)-1], 2000), Model: "claude-opus-4-5",
		Stop: "end_turn", Usage: thread.Usage{Input: 12, CacheRead: k.bytes / 4, CacheWrite: 900, Output: 321,
			CostUSD: .0123, Priced: true},
		Gauge: thread.Gauge{Tokens: k.bytes / 4, Window: 200_000, Model: "claude-opus-4-5",
			CostUSD: float64(k.head.Turn) * .0123, Source: "gateway"},
		Session: "8c0b7e9a-1111-4222-8333-444455556666"}, d
}

func (k *talk) put(c thread.Checkpoint, d thread.Delta) {
	k.t.Helper()
	var err error
	if k.head, err = k.s.PutCheckpoint(k.t.Context(), c, d); err != nil {
		k.t.Fatal(err)
	}
}

func first(s string, n int) string { return s[:min(n, len(s))] }

// prose is text with the statistics of words, not of random bytes: a Zipf distribution over a vocabulary.
type prose struct {
	r     *rand.Rand
	z     *rand.Zipf
	words []string
}

func newProse() *prose {
	p := &prose{r: rand.New(rand.NewSource(1))}
	for range 3000 {
		w := make([]byte, 2+p.r.Intn(8))
		for i := range w {
			w[i] = byte('a' + p.r.Intn(26))
		}
		p.words = append(p.words, string(w))
	}
	p.z = rand.NewZipf(p.r, 1.2, 8, uint64(len(p.words)-1))
	return p
}

func (p *prose) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(p.words[p.z.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}

// stored is what the store takes on the disk, the log folded in.
func stored(t testing.TB, s *sqlite.Store) sqlite.Sizes {
	t.Helper()
	z, err := s.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestSmall holds the store to its byte budgets; they do not depend on the machine.
func TestSmall(t *testing.T) {
	if checkpointtest.Raced() {
		t.Skip("SKIPPED under -race: sizes are the same without; run go test -run Small ./checkpoint/sqlite")
	}
	for _, tc := range []struct {
		name   string
		native bool
		turns  int
		size   func(*prose) []int
		each   int64   // most bytes a checkpoint on the disk, 0 for any
		ratio  float64 // most bytes on the disk for one of content
	}{
		{"250 turns of 2 KB", false, 250, func(*prose) []int { return []int{1000, 1100} }, 1300, .6},
		{"pieces of 3 to 12 KB", false, 120, func(p *prose) []int { return []int{3000 + p.r.Intn(9000)} }, 0, .5},
		{"the same with native lines", true, 120, func(p *prose) []int { return []int{3000 + p.r.Intn(9000)} }, 0, .3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, p := open(t, filepath.Join(t.TempDir(), "state.db")), newProse()
			empty := stored(t, s).Used
			k := newTalk(t, s, "a-0001")
			k.native = tc.native
			for range tc.turns {
				var texts []string
				for _, n := range tc.size(p) {
					texts = append(texts, p.text(n))
				}
				k.say(texts...)
			}
			z := stored(t, s)
			used := z.Used - empty
			t.Logf("%d checkpoints, %d bytes of content, %d on the disk: %d each, ratio %.3f", z.Checkpoints, k.bytes, used,
				used/int64(z.Checkpoints), float64(used)/float64(k.bytes))
			if tc.each > 0 && used/int64(z.Checkpoints) > tc.each {
				t.Errorf("a checkpoint takes %d bytes, at most %d", used/int64(z.Checkpoints), tc.each)
			}
			if r := float64(used) / float64(k.bytes); r > tc.ratio {
				t.Errorf("content of %d bytes takes %d, %.3f of it, at most %.2f", k.bytes, used, r, tc.ratio)
			}
		})
	}
}

// TestForkIsSmall forks a long thread 100 times.
func TestForkIsSmall(t *testing.T) {
	s, p := open(t, filepath.Join(t.TempDir(), "state.db")), newProse()
	k := newTalk(t, s, "a-0001")
	for range 50 {
		k.say(p.text(1000), p.text(1000))
	}
	before := stored(t, s).Used
	forks(t, s, k, 100)
	if each := (stored(t, s).Used - before) / 100; each > 1024 {
		t.Errorf("a fork takes %d bytes", each)
	} else {
		t.Logf("a fork takes %d bytes", each)
	}
}

func forks(t testing.TB, s *sqlite.Store, k *talk, n int) (took []time.Duration) {
	t.Helper()
	for i := range n {
		f := thread.Thread{ID: thread.NewID[thread.ID](), Name: thread.NewName(fmt.Sprint("try another approach ", i)),
			Label:  fmt.Sprint("try another approach ", i),
			Parent: k.id, ForkPoint: k.head.ID, Head: k.head.ID, Turn: k.head.Turn, Agent: "claude", Model: "claude-opus-4-5",
			Session: k.head.Session,
			Dir:     fmt.Sprintf("/home/user/project/.orchestrator/worktrees/try-another-approach-%d", i), Gauge: k.head.Gauge,
			Created: time.Unix(1e9, 0),
			Worktree: thread.Worktree{Path: fmt.Sprintf("/home/user/project/.orchestrator/worktrees/try-another-approach-%d", i),
				Branch: fmt.Sprintf("orchestrator/try-another-approach-%d", i), Base: strings.Repeat("0123456789", 4)},
			Handoff: &thread.Handoff{TaskID: "task", ThreadID: k.id, Description: "try another approach",
				CheckpointID: k.head.ID,
				Metadata:     thread.HandoffMetadata{ParentThreadID: k.id, ForkPoint: k.head.Turn, TokenBudget: 20000}}}
		start := time.Now()
		if err := s.CreateThread(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	return took
}

func median(took []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(took))[len(took)/2]
}

// report adds percentiles to a benchmark's figures.
func report(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[min(int(q*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(at(.5), name+"-p50-ms")
	b.ReportMetric(at(.99), name+"-p99-ms")
}

// BenchmarkTurns measures the same 2 KB put in a young and in a 5,000-turn thread, in turn, and what reads
// take at its end.
func BenchmarkTurns(b *testing.B) {
	s, p := open(b, filepath.Join(b.TempDir(), "state.db")), newProse()
	old := newTalk(b, s, "old-0001")
	old.native = true
	for range longTalk() {
		old.say(p.text(1000), p.text(1000))
	}
	var young *talk
	var at50, at5000, page, deep, fork []time.Duration
	time1 := func(list *[]time.Duration, f func()) {
		start := time.Now()
		f()
		*list = append(*list, time.Since(start))
	}
	ctx := b.Context()
	for n := 0; b.Loop(); n++ {
		if n%50 == 0 {
			young = newTalk(b, s, fmt.Sprintf("young-%04d", n))
			young.native = true
			for range 50 {
				young.say(p.text(1000), p.text(1000))
			}
		}
		q, a := p.text(1000), p.text(1000)
		time1(&at50, func() { young.say(q, a) })
		time1(&at5000, func() { old.say(q, a) })
		time1(&page, func() {
			if cs, err := s.Lineage(ctx, old.head.ID, thread.Page{Limit: 50, Turns: true}); err != nil || len(cs) != 50 {
				b.Fatal(len(cs), err)
			}
		})
		time1(&deep, func() {
			if cs, err := s.Lineage(ctx, old.head.ID, thread.Page{Limit: 50, Before: 100}); err != nil || len(cs) != 50 {
				b.Fatal(len(cs), err)
			}
		})
		fork = append(fork, forks(b, s, old, 1)...)
	}
	start := time.Now()
	items, err := s.Conversation(ctx, old.head.ID)
	if err != nil || len(items) < 10_000 {
		b.Fatal(len(items), err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "conversation-ms")
	report(b, "turn50", at50)
	report(b, "turn5000", at5000)
	report(b, "page", page)
	report(b, "deep", deep)
	report(b, "fork", fork)
}

// TestSessions puts real sessions, SESSIONS=folder of JSONL files as in the corpus, and says what they take.
func TestSessions(t *testing.T) {
	dir := os.Getenv("SESSIONS")
	if dir == "" {
		t.Skip("SKIPPED: sizes of real sessions; run SESSIONS=folder go test -run Sessions ./checkpoint/sqlite")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no sessions in ", dir, err)
	}
	for _, native := range []bool{false, true} {
		s := open(t, filepath.Join(t.TempDir(), "state.db"))
		var content int64
		for i, f := range files {
			k := newTalk(t, s, fmt.Sprintf("s-%04d", i))
			k.native = native
			session(t, k, f)
			content += k.bytes
		}
		z := stored(t, s)
		t.Logf("native lines %v: %d sessions, %d checkpoints, %d bytes of content, %d on the disk: ratio %.3f (packed records alone %.3f)",
			native, len(files), z.Checkpoints, content, z.Used, float64(z.Used)/float64(content),
			float64(z.Packed)/float64(content))
	}
}

func session(t *testing.T, k *talk, path string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	var texts []string
	for sc.Scan() {
		var l struct{ Role, Content string }
		if json.Unmarshal(sc.Bytes(), &l) != nil {
			continue
		}
		if texts = append(texts, l.Content); l.Role == "assistant" {
			k.say(texts...)
			texts = nil
		}
	}
}

// longTalk is how many turns the long thread has: 5,000, or STORE_TURNS.
func longTalk() int {
	if n, err := strconv.Atoi(os.Getenv("STORE_TURNS")); err == nil {
		return n
	}
	return 5000
}
