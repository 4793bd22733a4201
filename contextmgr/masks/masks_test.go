package masks_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// world is a store in a folder of its own.
type world struct {
	testing.TB
	*masks.Store
	dir     string
	notices []string
}

func open(t testing.TB, dir string) *world {
	t.Helper()
	folder, err := private.Make(dir, "masks")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, dir: dir}
	w.Store = masks.Open(folder, masks.Config{Notice: func(id thread.ID, text string) {
		w.notices = append(w.notices, string(id)+": "+text)
	}})
	t.Cleanup(func() { _ = w.Close() }) // again has closed some already
	return w
}

// again is the store after a restart.
func (w *world) again() *world {
	w.Helper()
	if err := w.Close(); err != nil {
		w.Fatal(err)
	}
	return open(w.TB, w.dir)
}

func (w *world) set(id, parent thread.ID) *masks.Set {
	w.Helper()
	set, err := w.Thread(id, parent)
	if err != nil {
		w.Fatal(err)
	}
	return set
}

func (w *world) path(names ...string) string {
	return filepath.Join(append([]string{w.dir, "masks"}, names...)...)
}

// item is a content to be masked.
func item(id, content string) masks.New {
	return masks.New{
		Mask: masks.Mask{
			ID: policy.ID(id), Tool: "Read", Lines: 3, Tokens: 200, At: time.Now(), Reason: "pays", Request: 7,
		},
		Content: []byte(content),
		Text: func(file string, token thread.Token) string {
			return "<masked \u2028\t" + id + "> " + file + " " + string(token)
		},
	}
}

func (w *world) add(set *masks.Set, batch ...masks.New) []masks.Mask {
	w.Helper()
	if err := set.Add(batch); err != nil {
		w.Fatal(err)
	}
	w.Settle()
	return masksOf(set, batch)
}

// masksOf returns the masks of a batch.
func masksOf(set *masks.Set, batch []masks.New) (all []masks.Mask) {
	for _, n := range batch {
		if m, ok := set.Mask(n.ID); ok {
			all = append(all, m)
		}
	}
	return all
}

// read returns a content by its token.
func (w *world) read(token thread.Token) (string, error) {
	_, b, err := w.Open(token)
	return string(b), err
}

// has checks that a content is masked, and that its file and its token give it back.
func (w *world) has(set *masks.Set, id, content string) masks.Mask {
	w.Helper()
	m, ok := set.Mask(policy.ID(id))
	if !ok {
		w.Fatalf("%s is not masked", id)
	}
	if want := item(id, "").Text(m.File, m.Token); m.Stub != want {
		w.Errorf("%s: the text is %q, want %q", id, m.Stub, want)
	}
	if got, err := os.ReadFile(m.File); err != nil || string(got) != content {
		w.Errorf("%s: its file has %d bytes, want %d (%v)", id, len(got), len(content), err)
	}
	if got, err := w.read(m.Token); err != nil || got != content {
		w.Errorf("%s: its token gives %d bytes, want %d (%v)", id, len(got), len(content), err)
	}
	return m
}

func ids(all []masks.Mask) string {
	var out []string
	for _, m := range all {
		out = append(out, string(m.ID))
	}
	return strings.Join(out, " ")
}

// TestMasksStay: masks are the same after restarts, with every byte; the first content with an id counts.
func TestMasksStay(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	got := w.add(set, item("a", "one\ntwo\n"), item("b", "\x00\xff binary"), item("a", "not this"))
	if ids(got) != "a b a" || got[0] != got[2] {
		t.Errorf("added %+v", got)
	}
	if again := w.add(set, item("b", "nor this"), item("c", "")); ids(again) != "b c" || again[0] != got[1] {
		t.Errorf("added %+v", again)
	}
	first := set.All()
	for range 3 {
		w = w.again()
		set = w.set("t1", "")
		w.has(set, "a", "one\ntwo\n")
		w.has(set, "b", "\x00\xff binary")
		w.has(set, "c", "")
		if all := set.All(); !slices.Equal(all, first) {
			t.Errorf("after a restart %+v\nwant %+v", all, first)
		}
	}
	for _, m := range first {
		info, err := os.Lstat(m.File)
		if err != nil || info.Mode() != 0o400 || m.Bytes != info.Size() {
			t.Errorf("%s: %v (%v)", m.File, info.Mode(), err)
		}
	}
	log := w.path("t1", "log")
	for dir, mode := range map[string]os.FileMode{w.path("t1"): 0o700, set.Dir(): 0o700, log: 0o600} {
		if info, err := os.Lstat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v (%v)", dir, info.Mode(), err)
		}
	}
	if got := strings.Count(string(load(t, log)), "\n"); got != 3 {
		t.Errorf("the log has %d records", got)
	}
	if list, err := os.ReadDir(set.Dir()); err != nil || len(list) != 3 {
		t.Errorf("the agent can read %v (%v)", list, err)
	}
	if len(w.notices) > 0 {
		t.Errorf("notices: %q", w.notices)
	}
	if _, err := w.read("max:00000000"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
}

// TestRefused: what could not be given back exactly is refused, and nothing of its batch is stored.
func TestRefused(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("kept", "kept"))
	before := w.files()
	noText, stub, none := item("x", "x"), item("x", "x"), item("x", "x")
	noText.Text = nil
	stub.Text = func(string, thread.Token) string { return "\xff" }
	none.Text = func(string, thread.Token) string { return "" }
	bytes := item("\xff", "x")
	bytes.Text = func(string, thread.Token) string { return "text" }
	year := item("x", "x")
	year.At = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, bad := range []masks.New{item("", "x"), bytes, noText, stub, none, year} {
		if err := set.Add([]masks.New{item("good", "good"), bad}); err == nil {
			t.Errorf("%d was masked", i)
		}
		if got := w.files(); !slices.Equal(got, before) || ids(set.All()) != "kept" {
			t.Errorf("%d: masked %s, files %v", i, ids(set.All()), got)
		}
	}
	if err := set.Add(nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
	for _, id := range []thread.ID{"", ".", "..", "../x", "a/b", ".hidden", "-x"} {
		if _, err := w.Thread(id, ""); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("thread %q: %v", id, err)
		}
		if _, err := w.Thread("fresh", id); id != "" && !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("parent %q: %v", id, err)
		}
	}
}

// files returns the paths below the store, with sizes.
func (w *world) files() []string {
	w.Helper()
	var all []string
	err := filepath.WalkDir(w.path(), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprint(strings.TrimPrefix(path, w.path()), " ", info.Size()))
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// TestSettings: pins, the mode and summaries survive a restart and are inherited.
func TestSettings(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	sum := masks.Summary{
		ID: "s1", First: masks.Hash{1, 255}, Last: masks.Hash{2}, Items: 3, Text: "what <was> done", Tokens: 5, Replaced: 500,
		At: time.Unix(5, 0).UTC(),
	}
	changed, other := sum, sum
	changed.Text, changed.Dropped = "edited", true
	other.ID = "s2"
	for _, err := range []error{
		set.Pin("a"), set.Pin("b"), set.Unpin("a"), set.SetMode("safe"), set.SetMode("lean"), set.AddSummary(sum),
		set.AddSummary(other), set.SetSummary(changed),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		info, err := os.Stat(w.path("t1", "log"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	was := size()
	if err := errors.Join(set.Pin("b"), set.Unpin("a"), set.SetMode("lean")); err != nil || size() != was {
		t.Errorf("what is so already was stored again (%v)", err)
	}
	if err := set.AddSummary(sum); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a summary twice: %v", err)
	}
	if err := set.SetSummary(masks.Summary{ID: "none"}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an unknown summary: %v", err)
	}
	for _, err := range []error{set.Pin(""), set.Pin("\xff"), set.SetMode("\xff"),
		set.AddSummary(masks.Summary{ID: "s3", Text: "\xff"})} {
		if !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("bad bytes: %v", err)
		}
	}
	check := func(what string, set *masks.Set) {
		if set.Pinned("a") || !set.Pinned("b") || set.Mode() != "lean" {
			t.Errorf("%s: pins %v %v, mode %s", what, set.Pinned("a"), set.Pinned("b"), set.Mode())
		}
		if got := set.Summaries(); !slices.Equal(got, []masks.Summary{changed, other}) {
			t.Errorf("%s: summaries %+v", what, got)
		}
	}
	check("now", set)
	w = w.again()
	check("after a restart", w.set("t1", ""))
	check("a fork", w.set("fork", "t1"))
	w = w.again()
	check("a fork after a restart", w.set("fork", "t1"))
}

// TestForks: a fork has what its parent had when it began, once, and for good.
func TestForks(t *testing.T) {
	w := open(t, t.TempDir())
	parent := w.set("p", "")
	early := w.set("early", "p") // before the parent has anything
	w.add(parent, item("a", "one"))
	fork := w.set("f", "p")
	w.add(parent, item("b", "two"))
	w.add(fork, item("c", "three"))
	grand := w.set("g", "f")
	w.set("late", "nobody")
	if _, err := os.Lstat(w.path("nobody")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a parent that is gone has a folder: %v", err)
	}
	root := w.set("r", "") // its parent is told later, as after a failed look-up
	if w.set("r", "f") != root || ids(root.All()) != "a c" {
		t.Errorf("the late parent gave %s", ids(root.All()))
	}
	self := w.set("self", "self")
	for n := range 20 { // they begin once
		id := thread.ID(fmt.Sprint("once", n))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if set, err := w.Thread(id, "p"); err != nil || ids(set.All()) != "a b" {
					t.Errorf("opened %v (%v)", set, err)
				}
			})
		}
		all.Wait()
		if n := strings.Count(string(load(t, w.path(string(id), "log"))), "\n"); n != 3 {
			t.Errorf("a fork begins with %d records", n)
		}
	}
	for round := range 2 {
		for _, tc := range []struct {
			id, parent thread.ID
			want       string
			dirs       []string
		}{
			{"p", "", "a b", []string{parent.Dir()}},
			{"early", "p", "", []string{early.Dir()}},
			{"late", "p", "", []string{w.path("late", "outputs")}},
			{"f", "p", "a c", []string{fork.Dir(), parent.Dir()}},
			{"g", "f", "a c", []string{grand.Dir(), parent.Dir(), fork.Dir()}},
			{"r", "p", "a c", []string{root.Dir(), parent.Dir(), fork.Dir()}},
			{"self", "self", "", []string{self.Dir()}},
		} {
			set := w.set(tc.id, tc.parent)
			if got := ids(set.All()); got != tc.want || !slices.Equal(set.Dirs(), tc.dirs) {
				t.Errorf("%d: %s masks %q and reads %v, want %q %v", round, tc.id, got, set.Dirs(), tc.want, tc.dirs)
			}
		}
		w = w.again()
	}
	a, _ := w.set("p", "").Mask("a")
	if m := w.has(w.set("g", ""), "a", "one"); m != a {
		t.Errorf("the fork masks %+v, its ancestor %+v", m, a)
	}
}

// TestOneSet: the sets of a thread are one as long as it is used, and not in memory after that.
func TestOneSet(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t0", "")
	w.add(set, item("a", "one"))
	for i := range masks.Keep * 3 {
		w.set(thread.ID(fmt.Sprint("t", i+1)), "")
	}
	for range 3 {
		runtime.GC()
	}
	if w.set("t0", "") != set {
		t.Error("a second set of a thread whose set is in use")
	}
	if n := w.Loaded(); n > masks.Keep+1 {
		t.Errorf("%d sets are in memory", n)
	}
	runtime.KeepAlive(set)
	w.has(w.set("t0", ""), "a", "one")
}

// TestManyAtOnce has goroutines mask, read, fork and sweep at once.
func TestManyAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("t1", ""), item("shared", "shared"))
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 15 {
				set, err := w.Thread("t1", "")
				if err != nil {
					t.Error(err)
					return
				}
				batch := []masks.New{item(fmt.Sprint(i), fmt.Sprint("content ", i)), item(fmt.Sprint(n, " ", i), "x")}
				err = set.Add(batch)
				got := masksOf(set, batch)
				if err != nil || len(got) != 2 {
					t.Errorf("added %v (%v)", got, err)
					return
				}
				if text, err := w.read(got[0].Token); err != nil || text != fmt.Sprint("content ", i) {
					t.Errorf("read %q (%v)", text, err)
				}
				fork, err := w.Thread(thread.ID(fmt.Sprint("f", n, "-", i)), "t1")
				if err != nil {
					t.Error(err)
					return
				}
				if m, ok := fork.Mask(got[1].ID); !ok || m != got[1] {
					t.Errorf("the fork masks %+v", m)
				}
				if _, _, err := w.Sweep(func(id thread.ID) bool { return id == "t1" || i%2 == 0 }); err != nil {
					t.Error(err)
				}
				_, _, sized := w.Size()
				_, found := w.Find(string(got[0].Token), func(thread.ID) bool { return true })
				if err := errors.Join(sized, found, set.Pin(got[0].ID)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w = w.again()
	set := w.set("t1", "")
	if n := len(set.All()); n != 1+15+8*15 {
		t.Errorf("%d masks", n)
	}
	for i := range 15 {
		w.has(set, fmt.Sprint(i), fmt.Sprint("content ", i))
	}
}

// TestFind: tokens are found by their beginning, among what is visible.
func TestFind(t *testing.T) {
	w := open(t, t.TempDir())
	next := []thread.Token{"max:aa000001", "max:aa000001", "max:aa000002", "max:bb000001"}
	w.Draw(func() thread.Token { defer func() { next = next[1:] }(); return next[0] })
	w.add(w.set("t1", ""), item("a", "one"), item("b", "two"))
	w.add(w.set("t2", ""), item("c", "three"))
	anybody := func(thread.ID) bool { return true }
	for ref, want := range map[string]policy.ID{"max:aa000002": "b", "aa000001": "a", "b": "c", "max:bb00": "c"} {
		if m, err := w.Find(ref, anybody); err != nil || m.ID != want {
			t.Errorf("%s is %s (%v)", ref, m.ID, err)
		}
	}
	if _, err := w.Find("aa", anybody); !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), "aa000001") {
		t.Errorf("two: %v", err)
	}
	none := func(id thread.ID) bool { return id == "t1" }
	for _, ref := range []string{"b", "bb000001", "cc"} {
		if _, err := w.Find(ref, none); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if _, err := w.Find("xyz", anybody); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("no token: %v", err)
	}
}

// BenchmarkAdd compares a batch of 200 contents of 5 KB with a bare synced write of the same bytes.
func BenchmarkAdd(b *testing.B) {
	w := open(b, b.TempDir())
	set := w.set("t1", "")
	bare, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var bareTime time.Duration
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		w.Settle()
		var batch []masks.New
		var all []byte
		for i := range 200 {
			var text strings.Builder
			for line := 0; text.Len() < 5<<10; line++ {
				hash := uint64(n*i*line) * 0x9e3779b97f4a7c15
				fmt.Fprintf(&text, "%d\tfunc f%d(x int) error { return g(%x) }\n", line, line*i, hash)
			}
			all = append(all, text.String()...)
			batch = append(batch, item(fmt.Sprint(n, "-", i), text.String()))
		}
		began := time.Now()
		if _, err := bare.Write(all); err != nil {
			b.Fatal(err)
		}
		if err := bare.Sync(); err != nil {
			b.Fatal(err)
		}
		bareTime += time.Since(began)
		b.StartTimer()
		if err := set.Add(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(b.N), "bare-ns/op")
}

// BenchmarkThread opens a thread with 1,000 masks of 5 KB.
func BenchmarkThread(b *testing.B) {
	w := open(b, b.TempDir())
	var batch []masks.New
	for i := range 1000 {
		batch = append(batch, item(fmt.Sprint(i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 400)))
	}
	w.add(w.set("t1", ""), batch...)
	for b.Loop() {
		b.StopTimer()
		w = w.again()
		b.StartTimer()
		w.set("t1", "")
	}
}
