package masks_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	*testing.T
	*masks.Store
	dir string
}

func open(t *testing.T, dir string) *world {
	t.Helper()
	folder, err := private.Make(dir, "masks")
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, masks.Open(folder, masks.Config{}), dir}
}

// again closes the store and opens it anew, as after a restart.
func (w *world) again() *world {
	w.Helper()
	if err := w.Close(); err != nil {
		w.Fatal(err)
	}
	return open(w.T, w.dir)
}

func (w *world) set(id, parent thread.ID) *masks.Set {
	w.Helper()
	set, err := w.Thread(id, parent)
	if err != nil {
		w.Fatal(err)
	}
	return set
}

func (w *world) log(id thread.ID) string { return filepath.Join(w.dir, "masks", string(id), "log") }

// item is a content to be masked.
func item(id, content string) masks.New {
	return masks.New{
		Mask: masks.Mask{
			ID: policy.ID(id), Tool: "Read", Lines: 3, Tokens: 200, At: time.Unix(1, 0).UTC(), Reason: "pays", Request: 7,
		},
		Content: []byte(content),
		Text: func(file string, token thread.Token) string {
			return "stub of " + id + " " + file + " " + string(token)
		},
	}
}

func (w *world) add(set *masks.Set, items ...masks.New) {
	w.Helper()
	if err := set.Add(items); err != nil {
		w.Fatal(err)
	}
}

// has checks that a content is masked and can be read in both ways.
func (w *world) has(set *masks.Set, id, content string) masks.Mask {
	w.Helper()
	m, ok := set.Mask(policy.ID(id))
	if !ok {
		w.Fatalf("%s is not masked", id)
	}
	if want := "stub of " + id + " " + m.File + " " + string(m.Token); m.Stub != want {
		w.Errorf("%s: the text is %q, want %q", id, m.Stub, want)
	}
	if _, got, err := w.Open(m.Token); err != nil || string(got) != content {
		w.Errorf("%s: read %d bytes by its token, want %d (%v)", id, len(got), len(content), err)
	}
	if got, err := os.ReadFile(m.File); err != nil || string(got) != content {
		w.Errorf("%s: its file has %d bytes, want %d (%v)", id, len(got), len(content), err)
	}
	return m
}

func TestMasksAreFrozen(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "one\ntwo\n"), item("b", "\x00\xff binary"), item("a", "not this"))
	w.add(set, item("b", "nor this"), item("c", ""))
	first := set.All()
	for range 2 {
		w = w.again()
		set = w.set("t1", "")
		w.has(set, "a", "one\ntwo\n")
		w.has(set, "b", "\x00\xff binary")
		w.has(set, "c", "")
		if !slices.Equal(set.All(), first) {
			t.Errorf("after a restart %+v, want %+v", set.All(), first)
		}
	}
	for _, m := range first {
		info, err := os.Lstat(m.File)
		if err != nil || info.Mode() != 0o400 || m.Bytes != info.Size() {
			t.Errorf("%s: %v, %v", m.File, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(set.Dir(), "log")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the log is where the agent reads")
	}
	if _, _, err := w.Open("max:00000000"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
}

func TestWishes(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	sum := masks.Summary{ID: "s1", First: "f", Last: "l", Items: 3, Text: "what was done", Tokens: 5, Replaced: 500}
	changed := sum
	changed.Text, changed.Dropped = "edited", true
	for _, err := range []error{
		set.Pin("a"), set.Pin("b"), set.Unpin("a"), set.SetMode("lean"), set.PutSummary(sum), set.PutSummary(changed),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []*masks.Set{set, w.again().set("t1", ""), nil} {
		if set == nil {
			w = open(t, w.dir)
			set = w.set("fork", "t1")
		}
		if set.Pinned("a") || !set.Pinned("b") || set.Mode() != "lean" {
			t.Errorf("pins %v %v, mode %s", set.Pinned("a"), set.Pinned("b"), set.Mode())
		}
		if got := set.Summaries(); len(got) != 1 || got[0] != changed {
			t.Errorf("summaries %+v", got)
		}
	}
}

func TestForksInherit(t *testing.T) {
	w := open(t, t.TempDir())
	parent := w.set("p", "")
	w.add(parent, item("a", "one"))
	fork := w.set("f", "p")
	w.add(parent, item("b", "two"))
	w.add(fork, item("c", "three"))
	grandchild := w.set("g", "f")
	if alone := w.set("alone", "nobody"); len(alone.All()) != 0 {
		t.Errorf("a thread without a parent has %+v", alone.All())
	}
	w = w.again()
	for _, tc := range []struct {
		id, parent thread.ID
		want       string
		dirs       []string
	}{
		{"p", "", "a b", []string{parent.Dir()}},
		{"f", "p", "a c", []string{fork.Dir(), parent.Dir()}},
		{"g", "f", "a c", []string{grandchild.Dir(), parent.Dir(), fork.Dir()}},
	} {
		set := w.set(tc.id, tc.parent)
		var got []string
		for _, m := range set.All() {
			got = append(got, string(m.ID))
		}
		if strings.Join(got, " ") != tc.want || !slices.Equal(set.Dirs(), tc.dirs) {
			t.Errorf("%s has %v and reads %v", tc.id, got, set.Dirs())
		}
	}
	a, _ := w.set("p", "").Mask("a")
	if m := w.has(w.set("g", ""), "a", "one"); m != a {
		t.Errorf("the grandchild masks %+v, its ancestor %+v", m, a)
	}
}

func TestOutputsAreWrittenAgain(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "one"), item("b", "two"), item("c", "three"))
	files := map[string]string{}
	for _, m := range set.All() {
		files[string(m.ID)] = m.File
	}
	spoil := func() {
		t.Helper()
		if err := errors.Join(os.Remove(files["a"]), os.Chmod(files["b"], 0o600),
			os.WriteFile(files["b"], []byte("lie"), 0o600), os.Remove(files["c"]), os.Symlink("/etc/passwd", files["c"])); err != nil {
			t.Fatal(err)
		}
	}
	spoil()
	for id, content := range map[string]string{"a": "one", "b": "two"} {
		m, _ := set.Mask(policy.ID(id))
		if _, got, err := w.Open(m.Token); err != nil || string(got) != content {
			t.Errorf("%s: %q (%v)", id, got, err)
		}
		w.has(set, id, content)
	}
	m, _ := set.Mask("c")
	if _, got, err := w.Open(m.Token); err != nil || string(got) != "three" {
		t.Errorf("behind a link: %q (%v)", got, err)
	}
	if err := os.Remove(files["c"]); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	w.has(w.set("t1", ""), "c", "three")
	if err := os.RemoveAll(set.Dir()); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	for id, content := range map[string]string{"a": "one", "b": "two", "c": "three"} {
		w.has(w.set("t1", ""), id, content)
	}
}

func TestDamage(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	contents := map[string]string{}
	for i := range 20 {
		id := fmt.Sprint("i", i)
		contents[id] = strings.Repeat(id+"\n", 1+i*20)
		w.add(set, item(id, contents[id]))
	}
	whole, err := os.ReadFile(w.log("t1"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		spoilt := slices.Clone(whole)
		switch n % 3 {
		case 0:
			spoilt[rnd.IntN(len(spoilt))] ^= 1 << rnd.IntN(8)
		case 1:
			spoilt = spoilt[:rnd.IntN(len(spoilt))]
		case 2:
			at := rnd.IntN(len(spoilt))
			clear(spoilt[at:min(len(spoilt), at+1+rnd.IntN(600))])
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.log("t1"), spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		w = open(t, w.dir)
		set := w.set("t1", "")
		for _, m := range set.All() {
			_, got, err := w.Open(m.Token)
			if err != nil || string(got) != contents[string(m.ID)] {
				t.Fatalf("round %d: %s is %q (%v)", n, m.ID, got, err)
			}
		}
		if have := len(set.All()) + set.Lost; n%3 == 0 && have < 18 { // a line end may join two records
			t.Errorf("round %d: %d records are left, %d are lost", n, len(set.All()), set.Lost)
		}
		w.add(set, item("more", "more"))
		w = w.again()
		w.has(w.set("t1", ""), "more", "more")
	}
}

func TestSweep(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("p", ""), item("a", strings.Repeat("x", 1000)))
	fork := w.set("f", "p")
	w.add(w.set("other", ""), item("b", "two"))
	gone := map[thread.ID]bool{"p": true, "other": true}
	exists := func(id thread.ID) bool { return !gone[id] }
	if n, bytes, err := w.Sweep(exists); err != nil || n != 1 || bytes == 0 {
		t.Fatalf("removed %d threads, %d bytes (%v)", n, bytes, err)
	}
	w = w.again()
	w.has(w.set("f", ""), "a", strings.Repeat("x", 1000))
	if _, err := os.Stat(filepath.Dir(w.log("other"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a thread that is gone: %v", err)
	}
	gone["f"] = true
	if n, _, err := w.Sweep(exists); err != nil || n != 2 {
		t.Errorf("removed %d threads (%v)", n, err)
	}
	if threads, bytes, err := w.Size(); threads != 0 || bytes != 0 || err != nil {
		t.Errorf("left %d threads, %d bytes (%v)", threads, bytes, err)
	}
	_ = fork
}

func TestRefuses(t *testing.T) {
	w := open(t, t.TempDir())
	for _, id := range []thread.ID{"", ".", "..", "../x", "a/b", ".hidden"} {
		if _, err := w.Thread(id, ""); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(w.dir, "masks", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Thread("link", ""); err == nil {
		t.Error("a folder behind a link was used")
	}
}

func TestManyAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 20 {
				set, err := w.Thread("t1", "")
				if err == nil {
					err = set.Add([]masks.New{item(fmt.Sprint(i), fmt.Sprint("content ", i)), item(fmt.Sprint(n, " ", i), "x")})
				}
				if err != nil {
					t.Error(err)
					return
				}
				set.All()
				set.Dirs()
			}
		})
	}
	all.Wait()
	w = w.again()
	set := w.set("t1", "")
	if n := len(set.All()); n != 20+8*20 {
		t.Errorf("%d masks", n)
	}
	for i := range 20 {
		w.has(set, fmt.Sprint(i), fmt.Sprint("content ", i))
	}
}

// BenchmarkAdd compares a batch of 200 contents of 5 KB with a bare synced write of the same bytes.
func BenchmarkAdd(b *testing.B) {
	folder, err := private.Make(b.TempDir(), "masks")
	if err != nil {
		b.Fatal(err)
	}
	s := masks.Open(folder, masks.Config{})
	defer s.Close()
	set, err := s.Thread("t1", "")
	if err != nil {
		b.Fatal(err)
	}
	content := strings.Repeat("a line of source code that was read\n", 140)
	bare, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var bareTime time.Duration
	n := 0
	for b.Loop() {
		var batch []masks.New
		for range 200 {
			n++
			batch = append(batch, item(fmt.Sprint(n), content))
		}
		if err := set.Add(batch); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		began := time.Now()
		if _, err := bare.Write(bytes.Repeat([]byte(content), 200)); err != nil {
			b.Fatal(err)
		}
		if err := bare.Sync(); err != nil {
			b.Fatal(err)
		}
		bareTime += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(b.N), "bare-ns/op")
}
