package eventlog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/eventlog"
)

func happening(seq int64, id thread.ID, kind thread.HappeningKind) thread.Happening {
	return thread.Happening{Seq: seq, Thread: id, Kind: kind}
}

func numbers(list []thread.Happening) (all []int64) {
	for _, h := range list {
		all = append(all, h.Seq)
	}
	return all
}

// TestBounds: the log keeps the newest, and says so to whoever asks for what it has lost.
func TestBounds(t *testing.T) {
	var l eventlog.Log
	const all = 3 * eventlog.Most
	for i := int64(1); i <= all; i++ {
		l.Add(happening(2*i, "a", thread.HappenedDone))
	}
	got := l.Find(thread.HappeningQuery{Limit: all}, "")
	if n := len(got.Happenings); n != eventlog.Most || got.Happenings[n-1].Seq != 2*all || got.Happenings[0].Seq != 2*(all-eventlog.Most+1) {
		t.Fatalf("%d are kept, %v … %v", n, got.Happenings[0], got.Happenings[n-1])
	}
	if got := l.Find(thread.HappeningQuery{Since: 2}, ""); !got.Lost || len(got.Happenings) != 200 || got.Left != eventlog.Most-200 {
		t.Errorf("lost %v, %d of them, %d left", got.Lost, len(got.Happenings), got.Left)
	}
	if got := l.Find(thread.HappeningQuery{Since: 2*all - 4}, ""); got.Lost || !slices.Equal(numbers(got.Happenings), []int64{2*all - 2, 2 * all}) {
		t.Errorf("%+v", got)
	}
}

// TestFind: a reader that goes on from Newest gets everything once, whatever its limit; two readers do not disturb each
// other, and the filters hold.
func TestFind(t *testing.T) {
	var l eventlog.Log
	for i, kind := range []thread.HappeningKind{"asks", "done", "asks", "done", "stuck", "asks", "done"} {
		l.Add(happening(int64(10+i), thread.ID("ab"[i%2:i%2+1]), kind))
	}
	for limit := 1; limit < 9; limit++ {
		var read []int64
		for q := (thread.HappeningQuery{Since: 9, Limit: limit}); ; {
			got := l.Find(q, "")
			if len(got.Happenings) > limit {
				t.Fatalf("%d of at most %d", len(got.Happenings), limit)
			}
			if read = append(read, numbers(got.Happenings)...); len(got.Happenings) == 0 {
				break
			}
			q.Since = got.Newest
		}
		if !slices.Equal(read, []int64{10, 11, 12, 13, 14, 15, 16}) {
			t.Errorf("with limit %d: %v", limit, read)
		}
	}
	for _, c := range []struct {
		q    thread.HappeningQuery
		id   thread.ID
		want []int64
	}{
		{thread.HappeningQuery{Limit: 2}, "", []int64{15, 16}},
		{thread.HappeningQuery{Kinds: []thread.HappeningKind{"asks"}}, "", []int64{10, 12, 15}},
		{thread.HappeningQuery{Kinds: []thread.HappeningKind{"asks"}}, "b", []int64{15}},
		{thread.HappeningQuery{Since: 12}, "a", []int64{14, 16}},
		{thread.HappeningQuery{Since: 16}, "", nil},
	} {
		if got := l.Find(c.q, c.id); !slices.Equal(numbers(got.Happenings), c.want) || got.Newest != 16 || got.Happenings == nil {
			t.Errorf("%+v: %+v, want %v", c.q, got, c.want)
		}
	}
	l.Forget("a")
	if got := l.Find(thread.HappeningQuery{}, ""); !slices.Equal(numbers(got.Happenings), []int64{11, 13, 15}) {
		t.Errorf("after a was forgotten: %v", numbers(got.Happenings))
	}
}

// TestFile: what was written is read, of a file that a crash cut, that somebody has written into, or that is too long.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	open := func() (*eventlog.File, []thread.Happening) {
		t.Helper()
		f, list, err := eventlog.OpenFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f, list
	}
	never := func() []thread.Happening { t.Error("all are asked for"); return nil }
	f, list := open()
	if len(list) != 0 {
		t.Fatal(list)
	}
	if err := f.Append([]thread.Happening{happening(1, "a", "asks"), happening(2, "b", "done")}, never); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := string(whole) + "nonsense\n" + `{"seq":1,"kind":"done"}` + "\n" + `{"seq":3,"kind":"done","text":"\u001b]0;x\u0007"}` + "\n" + `{"seq":4,"ki`
	if err := os.WriteFile(path, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	f, list = open()
	if !slices.Equal(numbers(list), []int64{1, 2, 3}) || strings.ContainsRune(list[2].Text, 0x1b) {
		t.Errorf("read %+v", list)
	}
	if err := f.Append([]thread.Happening{happening(5, "a", "asks")}, never); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, list = open()
	if !slices.Equal(numbers(list), []int64{1, 2, 3, 5}) {
		t.Errorf("read %v", numbers(list))
	}
	all := func() []thread.Happening { return []thread.Happening{happening(9, "a", "asks")} }
	replaced := 0
	for i := range int64(3 * eventlog.Most) {
		if err := f.Append([]thread.Happening{happening(10+i, "a", "asks")}, func() []thread.Happening { replaced++; return all() }); err != nil {
			t.Fatal(err)
		}
	}
	if n := lines(t, path); replaced != 1 || n > 2*eventlog.Most {
		t.Errorf("replaced %d times, %d lines", replaced, n)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, 9<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, list, err = eventlog.OpenFile(dir); err == nil || f == nil || list != nil {
		t.Errorf("of an endless file: %v, %v", list, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, list = open(); len(list) != 0 {
		t.Errorf("it was not replaced: %v", list)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func lines(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}
