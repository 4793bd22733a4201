package checkpointtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

func testPut(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	full := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: a.ID, Turn: 1, Kind: thread.KindTurn,
		Created: start.In(time.FixedZone("x", -3600)).Add(time.Nanosecond),
		Prompt:  "do <this> & that\x00", Answer: "ok ä😀",
		Model: "m-1", Stop: "end_turn", Interrupted: true, Session: "s-1", MCP: []string{"github", "x"}, Base: fullBase(), Note: "n",
		Usage: thread.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWriteHour: 2, Output: 4, CostUSD: .1, Priced: true},
		Gauge: thread.Gauge{Tokens: 10, Window: 20, Model: "m-1", Estimated: true, CostUSD: 1.5, Source: "gateway"},
		Snapshot: &thread.Snapshot{Commit: "c", Tree: "t", Base: "b", Files: 1, Insertions: 2, Deletions: 3,
			Skipped: []thread.Skip{{Path: "big.bin", Reason: "too large"}}}}
	got := f.put(full, thread.Delta{
		Items:      []thread.Item{item("q"), item("a")},
		Transcript: []thread.Chunk{{File: "main", Data: []byte("l1\n")}},
	})
	want := full
	want.Created, want.Seq, want.Items = want.Created.UTC(), 1, 2
	f.equal(got, want)
	for range 2 {
		f.there(want)
		f.holds(full.ID, []thread.Item{item("q"), item("a")}, map[string]string{"main": "l1\n"})
		f.reopen()
	}
	_, err := f.store.Checkpoint(f.ctx, "none")
	f.is(err, thread.ErrNotFound)
	for _, read := range []func(thread.CheckpointID) error{
		func(id thread.CheckpointID) error { _, err := f.store.Conversation(f.ctx, id); return err },
		func(id thread.CheckpointID) error { _, err := f.store.Transcript(f.ctx, id); return err },
		func(id thread.CheckpointID) error { _, err := f.store.Marks(f.ctx, id); return err },
		func(id thread.CheckpointID) error { _, err := f.store.Lineage(f.ctx, id, thread.Page{}); return err },
	} {
		f.is(read("none"), thread.ErrNotFound)
		f.is(read(""), thread.ErrNotFound)
	}
	long := f.next(a.ID, got)
	long.Prompt, long.Answer = strings.Repeat("ä", 1500), strings.Repeat("x", 3000)
	kept := f.put(long, thread.Delta{Keep: 2})
	f.equal(kept.Prompt, strings.Repeat("ä", checkpoint.MaxText/2))
	f.equal(kept.Answer, strings.Repeat("x", checkpoint.MaxText))
}

// testPutTwice puts a checkpoint again, like a caller whose first call failed after the commit.
func testPutTwice(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	c := f.next(a.ID, thread.Checkpoint{})
	c.Usage.Output = 7
	d := thread.Delta{Items: []thread.Item{item("x")}, Transcript: []thread.Chunk{{File: "main", Data: []byte("1\n")}}}
	first := f.put(c, d)
	next := f.add(a.ID, first)
	f.equal(f.put(c, d), first)
	f.reopen()
	f.equal(f.put(c, d), first)
	list, err := f.store.Checkpoints(f.ctx, a.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(list), newestFirst(first, next))
	th, err := f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	f.equal(th.Head, next.ID) // a late retry does not move the thread back
	f.equal(th.Usage.Output, int64(7))
	other := c
	other.Thread = f.thread("b-0001").ID
	_, err = f.store.PutCheckpoint(f.ctx, other, d)
	f.is(err, thread.ErrInvalid)
}

func testPutRefused(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	first := f.add(a.ID, thread.Checkpoint{})
	for name, tc := range map[string]struct {
		change func(*thread.Checkpoint, *thread.Delta)
		want   error
	}{
		"no id":         {func(c *thread.Checkpoint, _ *thread.Delta) { c.ID = "" }, thread.ErrInvalid},
		"no thread":     {func(c *thread.Checkpoint, _ *thread.Delta) { c.Thread = "" }, thread.ErrInvalid},
		"other thread":  {func(c *thread.Checkpoint, _ *thread.Delta) { c.Thread = "none" }, thread.ErrNotFound},
		"other parent":  {func(c *thread.Checkpoint, _ *thread.Delta) { c.Parent = "none" }, thread.ErrNotFound},
		"own parent":    {func(c *thread.Checkpoint, _ *thread.Delta) { c.Parent = c.ID }, thread.ErrInvalid},
		"keep too much": {func(_ *thread.Checkpoint, d *thread.Delta) { d.Keep = 3 }, thread.ErrInvalid},
		"keep negative": {func(_ *thread.Checkpoint, d *thread.Delta) { d.Keep = -1 }, thread.ErrInvalid},
		"keep of none":  {func(c *thread.Checkpoint, d *thread.Delta) { c.Parent, d.Keep = "", 1 }, thread.ErrInvalid},
		"gap":           {func(_ *thread.Checkpoint, d *thread.Delta) { d.Transcript[0].Offset = 1000 }, thread.ErrInvalid},
		"negative":      {func(_ *thread.Checkpoint, d *thread.Delta) { d.Transcript[0].Offset = -1 }, thread.ErrInvalid},
		"file name":     {func(_ *thread.Checkpoint, d *thread.Delta) { d.Transcript[0].File = "a\x00b" }, thread.ErrInvalid},
		"too large": {func(_ *thread.Checkpoint, d *thread.Delta) {
			d.Items = append(d.Items, thread.Item{Raw: make([]byte, checkpoint.MaxBody)})
		}, thread.ErrInvalid},
	} {
		f.Run(name, func(t *testing.T) {
			c := f.next(a.ID, first)
			d := thread.Delta{
				Keep: 2, Items: []thread.Item{item("x")}, Transcript: []thread.Chunk{{File: "main", Offset: 2, Data: []byte("y")}},
			}
			tc.change(&c, &d)
			if _, err := f.store.PutCheckpoint(f.ctx, c, d); err == nil {
				t.Fatal("taken")
			} else {
				f.is(err, tc.want)
			}
		})
	}
	list, err := f.store.Checkpoints(f.ctx, a.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(list), ids([]thread.Checkpoint{first}))
	f.equal(f.add(a.ID, first).Seq, int64(2)) // a refused put uses no number
}

func testPutMoves(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	c := f.next(a.ID, thread.Checkpoint{})
	c.Kind, c.Session, c.Usage = thread.KindResponse, "s-1", thread.Usage{Input: 1, Output: 2, CacheWriteHour: 3}
	c.Gauge = thread.Gauge{Tokens: 3, Window: 9, Source: "gateway"}
	c = f.put(c, thread.Delta{})
	th, err := f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	want := a
	want.Head, want.Turn, want.Session, want.Usage, want.Gauge, want.Updated = c.ID, 0, "s-1", c.Usage, c.Gauge, c.Created
	f.equal(th, want)
	d := f.next(a.ID, c)
	d.Turn, d.Usage = 1, thread.Usage{Input: 10, Output: 20, CacheWriteHour: 30}
	d = f.put(d, thread.Delta{})
	f.reopen()
	th, err = f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	want.Head, want.Turn, want.Updated = d.ID, 1, d.Created
	want.Usage = thread.Usage{Input: 11, Output: 22, CacheWriteHour: 33}
	f.equal(th, want)
}

func testPages(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	var all []thread.Checkpoint
	var prev thread.Checkpoint
	for n := range 120 {
		c := f.next(a.ID, prev)
		c.Turn = n/3 + 1
		if n%3 != 2 {
			c.Kind = thread.KindResponse
		}
		prev = f.put(c, thread.Delta{Keep: prev.Items})
		all = append(all, prev)
	}
	rev := slices.Clone(all)
	slices.Reverse(rev)
	turns := slices.DeleteFunc(slices.Clone(rev), func(c thread.Checkpoint) bool { return c.Kind == thread.KindResponse })
	page := func(p thread.Page) []thread.CheckpointID {
		f.Helper()
		got, err := f.store.Checkpoints(f.ctx, a.ID, p)
		f.ok(err)
		return ids(got)
	}
	f.equal(page(thread.Page{}), ids(rev[:100]))
	f.equal(page(thread.Page{Limit: 1000}), ids(rev))
	f.equal(page(thread.Page{Before: 4}), ids(rev[117:]))
	f.equal(page(thread.Page{Before: 100, Limit: 5}), ids(rev[21:26]))
	f.equal(page(thread.Page{Turns: true}), ids(turns))
	f.equal(page(thread.Page{Turns: true, Limit: 2, Before: 118}), ids(turns[1:3]))
	f.equal(page(thread.Page{Before: 1}), ids(nil))
	got, err := f.store.Checkpoints(f.ctx, "none", thread.Page{})
	f.ok(err)
	f.equal(len(got), 0)

	lineage := func(p thread.Page) []thread.CheckpointID {
		f.Helper()
		got, err := f.store.Lineage(f.ctx, prev.ID, p)
		f.ok(err)
		return ids(got)
	}
	f.equal(lineage(thread.Page{}), ids(rev[:100]))
	f.equal(lineage(thread.Page{Turns: true}), ids(turns))
	f.equal(lineage(thread.Page{Before: 10, Limit: 4}), ids(rev[93:97]))
	f.equal(lineage(thread.Page{Before: 10, Turns: true, Limit: 2}), ids(turns[31:33]))
	f.equal(lineage(thread.Page{Before: 1}), ids(nil))
}

func testForks(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	a1 := f.add(a.ID, thread.Checkpoint{})
	a2 := f.add(a.ID, a1)
	a3 := f.add(a.ID, a2)
	b := f.fork("b-0001", a2)
	th, err := f.store.Thread(f.ctx, b.ID)
	f.ok(err)
	f.equal(th.Head, a2.ID)
	b1 := f.add(b.ID, a2)
	c := f.fork("c-0001", b1)
	c1 := f.add(c.ID, b1)
	f.reopen()

	f.equal(b1.Seq, int64(1))
	lineage, err := f.store.Lineage(f.ctx, c1.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(lineage), newestFirst(a1, a2, b1, c1))
	own, err := f.store.Checkpoints(f.ctx, b.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(own), newestFirst(b1))
	conv := func(cs ...thread.Checkpoint) (out []thread.Item, file string) {
		for _, c := range cs {
			out = append(out, item("q "+c.Prompt), item("a "+c.Prompt))
			file += "line " + c.Prompt + "\n"
		}
		return out, file
	}
	for _, tc := range [][]thread.Checkpoint{{a1}, {a1, a2}, {a1, a2, a3}, {a1, a2, b1}, {a1, a2, b1, c1}} {
		items, file := conv(tc...)
		f.holds(tc[len(tc)-1].ID, items, map[string]string{"main": file})
	}
}

func testRewinds(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	a1 := f.add(a.ID, thread.Checkpoint{})
	a2 := f.add(a.ID, a1)
	safety := f.next(a.ID, a2)
	safety.Kind = thread.KindSafety
	safety = f.put(safety, thread.Delta{Keep: a2.Items})
	back := f.next(a.ID, a1)
	back.Kind, back.Turn = thread.KindRewind, a1.Turn
	back = f.put(back, thread.Delta{Keep: a1.Items})
	again := f.add(a.ID, back)
	f.equal(again.Seq, int64(5))
	f.reopen()
	lineage, err := f.store.Lineage(f.ctx, again.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(lineage), newestFirst(a1, back, again))
	own, err := f.store.Checkpoints(f.ctx, a.ID, thread.Page{})
	f.ok(err)
	f.equal(ids(own), newestFirst(a1, a2, safety, back, again))
	f.holds(again.ID, []thread.Item{item("q " + a1.Prompt), item("a " + a1.Prompt), item("q " + again.Prompt),
		item("a " + again.Prompt)},
		map[string]string{"main": "line " + a1.Prompt + "\nline " + again.Prompt + "\n"})
	th, err := f.store.Thread(f.ctx, a.ID)
	f.ok(err)
	f.equal(th.Head, again.ID)
}

// testRewritten keeps less than the parent has: the agent compacted, or changed an early item and sent the rest again.
func testRewritten(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	var items []thread.Item
	var prev thread.Checkpoint
	for n := range 10 {
		items = append(items, item(fmt.Sprint("item ", n)))
		prev = f.put(f.next(a.ID, prev), thread.Delta{Keep: prev.Items, Items: items[n:]})
	}
	before := slices.Clone(items)
	changed := slices.Clone(items)
	changed[2] = item("changed")
	full := prev
	prev = f.put(f.next(a.ID, prev), thread.Delta{Keep: 2, Items: changed[2:]})
	again := prev
	compact := []thread.Item{item("summary"), items[9]}
	prev = f.put(f.next(a.ID, prev), thread.Delta{Items: compact})
	f.reopen()
	f.holds(full.ID, before, map[string]string{})
	f.holds(again.ID, changed, map[string]string{})
	f.holds(prev.ID, compact, map[string]string{})
	cut := f.put(f.next(a.ID, again), thread.Delta{Keep: 5})
	f.holds(cut.ID, changed[:5], map[string]string{})
	none := f.put(f.next(a.ID, cut), thread.Delta{})
	f.holds(none.ID, nil, map[string]string{})
}

func testExact(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	var all []thread.Item
	for _, raw := range []string{
		`{ "role" : "user",   "content":"spaces \u0041 kept"}`, `{"dup":1,"dup":2}`, `"bare"`, `null`, ``,
		`{"lone":"\ud800"}`, "{\"sep\":\"\u2028\"}",
		`{"z":1e400,"a":0.10}`, "not json \xff\x00", strings.Repeat(`{"a":`, 100), `{"html":"<&>"}`,
	} {
		all = append(all, thread.Item{Wire: "w'1", Raw: json.RawMessage(raw)}, thread.Item{Raw: json.RawMessage(raw)})
	}
	c := f.put(f.next(a.ID, thread.Checkpoint{}), thread.Delta{Items: all, Transcript: []thread.Chunk{
		{File: "main", Data: []byte("\x00\xff\r\nhalf")}, {File: "a/ü 'b'.jsonl", Data: []byte("x")}, {File: "empty"}}})
	f.reopen()
	f.holds(c.ID, all, map[string]string{"main": "\x00\xff\r\nhalf", "a/ü 'b'.jsonl": "x", "empty": ""})
}

// testLong crosses the limits at which stores group and key their data.
func testLong(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	rnd := rand.New(rand.NewSource(1))
	var items []thread.Item
	var file strings.Builder
	var prev thread.Checkpoint
	var mid thread.Checkpoint
	var midItems int
	var midFile string
	for n := range 120 {
		size := 200 + rnd.Intn(3000)
		if n == 70 {
			size = 150_000
		}
		it := item(words(rnd, size))
		items = append(items, it)
		line := string(it.Raw) + "\n"
		prev = f.put(f.next(a.ID, prev), thread.Delta{Keep: prev.Items, Items: []thread.Item{it},
			Transcript: []thread.Chunk{{File: "main", Offset: int64(file.Len()), Data: []byte(line)}}})
		file.WriteString(line)
		if n == 80 {
			mid, midItems, midFile = prev, len(items), file.String()
		}
		if n == 100 {
			f.reopen()
		}
	}
	f.holds(prev.ID, items, map[string]string{"main": file.String()})
	f.holds(mid.ID, items[:midItems], map[string]string{"main": midFile})
	b := f.fork("b-0001", mid)
	c := f.put(f.next(b.ID, mid), thread.Delta{Keep: midItems, Items: []thread.Item{item("fork")}})
	f.reopen()
	f.holds(c.ID, append(slices.Clone(items[:midItems]), item("fork")), map[string]string{"main": midFile})
}

func words(rnd *rand.Rand, size int) string {
	list := strings.Fields(
		"func return error the file of line test context package string if err nil for range import struct type var")
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(list[rnd.Intn(len(list))])
		fmt.Fprintf(&b, " %d ", rnd.Intn(1000))
	}
	return b.String()
}

// testFiles appends, rewrites and truncates native files.
func testFiles(_ *testing.T, f *fixture) {
	a := f.thread("a-0001")
	var prev thread.Checkpoint
	var states []map[string]string
	var points []thread.Checkpoint
	step := func(want map[string]string, chunks ...thread.Chunk) {
		f.Helper()
		prev = f.put(f.next(a.ID, prev), thread.Delta{Transcript: chunks})
		points, states = append(points, prev), append(states, want)
	}
	big := strings.Repeat("0123456789abcdef line of a long native file\n", 2000)
	step(map[string]string{"main": "one\n"}, thread.Chunk{File: "main", Data: []byte("one\n")})
	step(map[string]string{"main": "one\ntwo\n", "sub/1": "s"}, thread.Chunk{
		File: "main", Offset: 4, Data: []byte("two\n"),
	}, thread.Chunk{File: "sub/1", Data: []byte("s")})
	step(map[string]string{"main": "ONE\n", "sub/1": "s"}, thread.Chunk{File: "main", Data: []byte("ONE\n")})
	step(map[string]string{"main": "ONE\nab", "sub/1": "s"}, thread.Chunk{File: "main", Offset: 4, Data: []byte("a")},
		thread.Chunk{File: "main", Offset: 5, Data: []byte("b")})
	step(map[string]string{"main": "ONXY", "sub/1": "s"}, thread.Chunk{File: "main", Offset: 2, Data: []byte("XY")})
	step(map[string]string{"main": big, "sub/1": "s"}, thread.Chunk{File: "main", Data: []byte(big)})
	changed := "head changed\n" + big[:70_000] + "middle changed\n" + big[70_000:] + "tail\n"
	step(map[string]string{"main": changed, "sub/1": "s"}, thread.Chunk{File: "main", Data: []byte(changed)})
	step(map[string]string{"main": changed, "sub/1": "s"})
	step(map[string]string{"main": changed[:100], "sub/1": "s"}, thread.Chunk{File: "main", Offset: 100})
	step(map[string]string{"main": "", "sub/1": "s"}, thread.Chunk{File: "main"})
	for n := range 24 { // many rewrites of the same file
		text := fmt.Sprintf("{\"n\":%d}\n%s%d\n", n, big[:20_000+n*44], n)
		step(map[string]string{"main": text, "sub/1": "s"}, thread.Chunk{File: "main", Data: []byte(text)})
		if n == 14 {
			f.reopen()
		}
	}
	f.reopen()
	for i, c := range points {
		f.holds(c.ID, nil, states[i])
	}
}

// testModel compares random histories with the simple model.
func testModel(_ *testing.T, f *fixture) {
	rnd := rand.New(rand.NewSource(7))
	type state struct {
		c     thread.Checkpoint
		items []thread.Item
		files map[string]string
	}
	all := []state{{}}
	threads := []thread.Thread{f.thread("t-0000")}
	for n := range 60 {
		p := all[len(all)-1]
		if rnd.Intn(4) == 0 {
			p = all[rnd.Intn(len(all))] // a rewind or a fork
		}
		if rnd.Intn(12) == 0 {
			th := f.thread(fmt.Sprintf("t-%04d", n+1))
			threads = append(threads, th)
		}
		keep := len(p.items)
		if keep > 0 && rnd.Intn(5) == 0 {
			keep = rnd.Intn(keep)
		}
		s := state{items: slices.Clone(p.items[:keep]), files: map[string]string{}}
		for k, v := range p.files {
			s.files[k] = v
		}
		d := thread.Delta{Keep: keep}
		for range rnd.Intn(4) {
			it := item(words(rnd, rnd.Intn(700)))
			if keep < len(p.items) && rnd.Intn(2) == 0 {
				it = p.items[keep+rnd.Intn(len(p.items)-keep)] // one of the parent's
			}
			d.Items = append(d.Items, it)
		}
		s.items = append(s.items, d.Items...)
		for range rnd.Intn(3) {
			name := []string{"main", "sub/a", "sub/b"}[rnd.Intn(3)]
			off := len(s.files[name])
			if off > 0 && rnd.Intn(4) == 0 {
				off = []int{0, rnd.Intn(off)}[rnd.Intn(2)]
			}
			data := words(rnd, rnd.Intn(900))
			d.Transcript = append(d.Transcript, thread.Chunk{File: name, Offset: int64(off), Data: []byte(data)})
			s.files[name] = s.files[name][:off] + data
		}
		s.c = f.put(f.next(threads[rnd.Intn(len(threads))].ID, p.c), d)
		f.equal(s.c.Items, len(s.items))
		all = append(all, s)
		if n%30 == 29 {
			f.reopen()
		}
	}
	// What each added gives the same result when it is put as a delta elsewhere.
	deltas, can := f.store.(checkpoint.Deltas)
	copied := map[thread.CheckpointID]thread.Checkpoint{}
	for i, s := range all[1:] {
		if can && i%2 == 0 || copied[s.c.Parent].ID != "" {
			d, err := deltas.Delta(f.ctx, s.c.ID)
			f.ok(err)
			parent := s.c
			parent.ID = s.c.Parent
			if other, there := copied[s.c.Parent]; there {
				parent = other
			}
			c := f.put(f.next(threads[0].ID, parent), d)
			copied[s.c.ID] = c
			f.holds(c.ID, s.items, s.files)
		}
		f.holds(s.c.ID, s.items, s.files)
		f.there(s.c)
		for i, it := range s.items {
			if !bytes.Equal(it.Raw, s.items[i].Raw) {
				f.Fatal("model changed")
			}
		}
	}
}
