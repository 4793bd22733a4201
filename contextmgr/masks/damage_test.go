package masks_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// change replaces a file, whatever its mode is.
func change(t testing.TB, path string, content []byte) {
	t.Helper()
	must(t, os.RemoveAll(path), os.WriteFile(path, content, 0o600))
}

func load(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// TestCutAnywhere: of a log that is cut off at some byte, batches are there whole or not at all, those before are, and
// more can be stored.
func TestCutAnywhere(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "one"), item("b", "two"))
	first := len(load(t, w.path("t1", "log")))
	w.add(set, item("c", "three"), item("d", "four"), item("e", "five"))
	whole := load(t, w.path("t1", "log"))
	for at := range len(whole) + 1 {
		if near := whole[max(0, at-2):min(len(whole), at+1)]; at%41 > 0 && !bytes.Contains(near, []byte{'\n'}) {
			continue // TestScan has all the places
		}
		change(t, w.path("t1", "log"), whole[:at])
		w = w.again()
		set := w.set("t1", "")
		want := ""
		if at >= first {
			want = "a b"
		}
		if at == len(whole) {
			want = "a b c d e"
		}
		if got := ids(set.All()); got != want || set.Lost() != 0 {
			t.Fatalf("cut at %d of %d: %q masked, want %q; %d lost", at, len(whole), got, want, set.Lost())
		}
		if info, err := os.Stat(w.path("t1", "log")); err != nil || at < first && info.Size() > 0 {
			t.Fatalf("cut at %d: %v was not cut off (%v)", at, info.Size(), err)
		}
		if at%3 == 0 {
			w.add(set, item("more", "more"))
			w = w.again()
			w.has(w.set("t1", ""), "more", "more")
		}
	}
}

// TestSecondMask: of two masks of one content, or with one token, the first in the log counts.
func TestSecondMask(t *testing.T) {
	w := open(t, t.TempDir())
	m := w.add(w.set("t1", ""), item("a", "one"))[0]
	log := load(t, w.path("t1", "log"))
	for _, other := range [][2]string{{"a", "max:00000001"}, {"b", string(m.Token)}} {
		log = append(log, masks.Line(fmt.Sprintf(`{"kind":"mask","mask":{"id":%q,"stub":"other","token":%q,"sum":"%064d"}}`,
			other[0], other[1], 0))...)
	}
	change(t, w.path("t1", "log"), log)
	w = w.again()
	if set := w.set("t1", ""); ids(set.All()) != "a" || set.Lost() != 0 || w.has(set, "a", "one") != m {
		t.Errorf("masked %+v, %d lost", set.All(), set.Lost())
	}
}

// TestLeftByFailedWrite: what a write left behind the log, when it failed and could not be cut off, harms nothing.
func TestLeftByFailedWrite(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "one"))
	change(t, w.path("t1", "log"), append(load(t, w.path("t1", "log")), bytes.Repeat([]byte("left\n"), 1000)...))
	must(t, set.Pin("a"))
	w = w.again()
	if set := w.set("t1", ""); set.Lost() != 0 || !set.Pinned("a") {
		t.Errorf("%d lost, pinned %v", set.Lost(), set.Pinned("a"))
	}
}

// TestDamage: whatever happens to the bytes of a log, what is masked still has its own text and content, and most of it
// is there.
func TestDamage(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	contents := map[policy.ID]string{}
	for n := range 6 {
		var batch []masks.New
		for i := range 5 {
			id := fmt.Sprint("i", n, "-", i)
			contents[policy.ID(id)] = strings.Repeat(id+" is a line\n", 1+i*20)
			batch = append(batch, item(id, contents[policy.ID(id)]))
		}
		w.add(set, batch...)
	}
	whole, stubs := load(t, w.path("t1", "log")), map[policy.ID]string{}
	for _, m := range set.All() {
		stubs[m.ID] = m.Stub
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		spoilt := bytes.Clone(whole)
		at := rnd.IntN(len(spoilt))
		switch n % 3 {
		case 0:
			spoilt[at] ^= 1 << rnd.IntN(8)
		case 1:
			spoilt = slices.Delete(spoilt, at, min(len(spoilt), at+1+rnd.IntN(2000)))
		case 2:
			clear(spoilt[at:min(len(spoilt), at+1+rnd.IntN(600))])
		}
		change(t, w.path("t1", "log"), spoilt)
		if n%2 == 0 { // the agent changes files too
			all, err := filepath.Glob(filepath.Join(set.Dir(), "*.txt"))
			must(t, err)
			change(t, all[rnd.IntN(len(all))], []byte("lie"))
		}
		w = w.again()
		set := w.set("t1", "")
		for _, m := range set.All() {
			got, err := w.read(m.Token)
			if err == nil && got != contents[m.ID] || err != nil && !errors.Is(err, thread.ErrDamaged) {
				t.Fatalf("round %d: %s is %q (%v)", n, m.ID, got, err)
			}
			if m.Stub != stubs[m.ID] {
				t.Fatalf("round %d: the text of %s is %q", n, m.ID, m.Stub)
			}
		}
		if have := len(set.All()); n%3 == 0 && have < len(contents)-2 { // a line end joins two records
			t.Errorf("round %d: %d of %d are masked, after one bit was flipped", n, have, len(contents))
		}
		if (set.Lost() > 0) != slices.ContainsFunc(w.notices, func(s string) bool { return strings.Contains(s, "damaged") }) {
			t.Errorf("round %d: %d records are lost, notices %q", n, set.Lost(), w.notices)
		}
		w.add(set, item("more", "more"))
		w = w.again()
		w.has(w.set("t1", ""), "more", "more")
	}
}

// TestContentOutlivesItsRecord: a content that is damaged in the log stays masked, and its file has it; without both it
// is reported, and never something else.
func TestContentOutlivesItsRecord(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "one"))
	log := load(t, w.path("t1", "log"))
	at := bytes.IndexByte(log, '\t') + 5
	log[at] ^= 3
	change(t, w.path("t1", "log"), log)
	w = w.again()
	set = w.set("t1", "")
	m := w.has(set, "a", "one")
	if set.Lost() != 0 || len(w.notices) > 0 {
		t.Errorf("%d lost, notices %q", set.Lost(), w.notices)
	}
	change(t, m.File, []byte("two"))
	if got, err := w.read(m.Token); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("read %q (%v)", got, err)
	}
	w = w.again()
	if again, ok := w.set("t1", "").Mask("a"); !ok || again != m || len(w.notices) != 1 {
		t.Errorf("masked %v, notices %q", again, w.notices)
	}
}

// TestOtherContent: a content in the log that is not the one that was masked is not given out.
func TestOtherContent(t *testing.T) {
	w := open(t, t.TempDir())
	both := w.add(w.set("t1", ""), item("a", "one"), item("b", "two"))
	lines := bytes.SplitAfter(load(t, w.path("t1", "log")), []byte{'\n'})
	head, content, _ := bytes.Cut(lines[0], []byte{'\t'})
	other, otherContent, _ := bytes.Cut(lines[1], []byte{'\t'})
	change(t, w.path("t1", "log"), slices.Concat(head, []byte{'\t'}, otherContent, other, []byte{'\t'}, content))
	for _, m := range both {
		must(t, os.Remove(m.File))
		if got, err := w.read(m.Token); !errors.Is(err, thread.ErrDamaged) || got != "" {
			t.Errorf("%s is %q (%v)", m.ID, got, err)
		}
	}
}

// TestMended: whatever was done to the copies, they are as they were when the thread is opened, and when they are read.
func TestMended(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("precious"), 0o600))
	spoil := map[string]func(t *testing.T, path string){
		"removed":   func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"same size": func(t *testing.T, path string) { change(t, path, []byte("eno")) },
		"longer":    func(t *testing.T, path string) { change(t, path, []byte("one and more")) },
		"empty":     func(t *testing.T, path string) { change(t, path, nil) },
		"link":      func(t *testing.T, path string) { must(t, os.Remove(path), os.Symlink(outside, path)) },
		"hard link": func(t *testing.T, path string) { must(t, os.Remove(path), os.Link(outside, path)) },
		"folder":    func(t *testing.T, path string) { must(t, os.Remove(path), os.Mkdir(path, 0o700)) },
		"open to all": func(t *testing.T, path string) {
			change(t, path, []byte("bad"))
			must(t, os.Chmod(path, 0o666))
		},
		"no outputs": func(t *testing.T, path string) { must(t, os.RemoveAll(filepath.Dir(path))) },
		"left over": func(t *testing.T, path string) {
			left := filepath.Join(filepath.Dir(path), ".new-"+filepath.Base(path))
			must(t, os.Remove(path), os.RemoveAll(left), os.WriteFile(left, nil, 0o400))
		},
	}
	for what, spoil := range spoil {
		t.Run(what, func(t *testing.T) {
			w := open(t, t.TempDir())
			both := w.add(w.set("home", ""), item("a", "one"), item("b", "two"))
			m, b := both[0], both[1]
			w.set("fork", "home")
			for _, id := range []thread.ID{"", "home", "fork"} {
				spoil(t, m.File)
				if id == "" {
					if got, err := w.read(m.Token); err != nil || got != "one" {
						t.Errorf("read %q (%v)", got, err)
					}
				} else {
					w = w.again()
					w.set(id, "")
				}
				if got, err := os.ReadFile(m.File); err != nil || string(got) != "one" {
					t.Errorf("opened %q: the file has %q (%v)", id, got, err)
				}
				if info, err := os.Lstat(m.File); err != nil || info.Mode() != 0o400 {
					t.Errorf("opened %q: %v (%v)", id, info.Mode(), err)
				}
				w.has(w.set("fork", ""), "a", "one")
				if got, err := w.read(b.Token); err != nil || got != "two" {
					t.Errorf("read %q (%v)", got, err)
				}
				w.has(w.set("fork", ""), "b", "two")
			}
			if got := load(t, outside); string(got) != "precious" {
				t.Errorf("outside there is %q", got)
			}
		})
	}
}

// TestHostile: nothing that is not ours is entered or replaced.
func TestHostile(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("good", ""), item("a", "one"))
	elsewhere := t.TempDir()
	must(t, os.Symlink(elsewhere, w.path("link")), os.MkdirAll(w.path("linked"), 0o700),
		os.Symlink(elsewhere, w.path("linked", "outputs")), os.MkdirAll(w.path("logged", "outputs"), 0o700),
		os.Symlink(filepath.Join(elsewhere, "log"), w.path("logged", "log")), os.WriteFile(w.path("file"), nil, 0o600))
	for _, id := range []thread.ID{"link", "linked", "logged", "file"} {
		if set, err := w.Thread(id, ""); err == nil {
			if err = set.Add([]masks.New{item("x", "x")}); err == nil {
				t.Errorf("%s: masked", id)
			}
		} else if !errors.Is(err, private.ErrNotOurs) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if list, err := os.ReadDir(elsewhere); err != nil || len(list) > 0 {
		t.Errorf("elsewhere there is %v (%v)", list, err)
	}
	w.add(w.set("good", ""), item("b", "two"))
	w.has(w.set("good", ""), "b", "two")
}

// TestSweep: what nothing needs is removed, and nothing else.
func TestSweep(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("p", ""), item("a", strings.Repeat("x", 1000)))
	w.set("f", "p")
	other := w.set("other", "")
	w.add(other, item("b", "two"))
	gone := map[thread.ID]bool{"p": true, "other": true}
	exists := func(id thread.ID) bool { return !gone[id] }
	if n, bytes, err := w.Sweep(exists); err != nil || n != 1 || bytes == 0 {
		t.Fatalf("removed %d, %d bytes (%v)", n, bytes, err)
	}
	if err := other.Add([]masks.New{item("c", "three")}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("masked in a thread that is gone: %v", err)
	}
	if err := other.Pin("c"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("pinned in a thread that is gone: %v", err)
	}
	if _, err := os.Lstat(w.path("other")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a thread that is gone: %v", err)
	}
	if again := w.set("other", ""); len(again.All()) != 0 || again == other {
		t.Error("a thread that is new has masks")
	}
	w = w.again()
	m := w.has(w.set("f", ""), "a", strings.Repeat("x", 1000))

	long := time.Now().Add(-2 * time.Hour)
	left, young := filepath.Join(filepath.Dir(m.File), "00000001.txt"), filepath.Join(filepath.Dir(m.File), "00000002.txt")
	foreign := filepath.Join(filepath.Dir(m.File), "notes.txt")
	must(t, os.WriteFile(left, nil, 0o400), os.WriteFile(young, nil, 0o400), os.WriteFile(foreign, nil, 0o400),
		os.Chtimes(left, long, long), os.Chtimes(foreign, long, long), os.Chtimes(m.File, long, long))
	gone = map[thread.ID]bool{}
	if n, _, err := w.Sweep(exists); err != nil || n != 1 {
		t.Errorf("removed %d (%v)", n, err)
	}
	for path, want := range map[string]bool{left: false, young: true, foreign: true, m.File: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}

	log := load(t, w.path("p", "log"))
	log[12] ^= 1
	change(t, w.path("p", "log"), log) // the fork still needs the copy
	if n, _, err := w.Sweep(exists); err != nil || n != 0 {
		t.Errorf("removed %d (%v)", n, err)
	}
	w.has(w.set("f", ""), "a", strings.Repeat("x", 1000))

	m = w.add(w.set("alone", ""), item("c", "three"))[0]
	must(t, os.Chtimes(m.File, long, long))
	log = load(t, w.path("alone", "log"))
	log[12] ^= 1
	change(t, w.path("alone", "log"), log)
	if n, _, err := w.Sweep(exists); err != nil || n != 0 {
		t.Errorf("removed %d (%v)", n, err)
	}
	if got := load(t, m.File); string(got) != "three" {
		t.Errorf("the last copy of a content is %q", got)
	}

	gone = map[thread.ID]bool{"p": true, "f": true, "other": true, "alone": true}
	if n, _, err := w.Sweep(exists); err != nil || n != 4 {
		t.Errorf("removed %d (%v)", n, err)
	}
	if threads, bytes, err := w.Size(); threads != 0 || bytes != 0 || err != nil {
		t.Errorf("left %d threads, %d bytes (%v)", threads, bytes, err)
	}
}

// TestNewerBuild: records of kinds that are not known are kept, and what they need too.
func TestNewerBuild(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("p", ""), item("a", "one"))
	w.set("f", "")
	line := masks.Line(`{"kind":"future","needs":["p"],"mask":{"id":"a"}}`)
	change(t, w.path("f", "log"), line)
	w = w.again()
	set := w.set("f", "")
	if err := set.SetMode("lean"); err != nil || set.Lost() != 0 {
		t.Errorf("%d lost (%v)", set.Lost(), err)
	}
	if !bytes.HasPrefix(load(t, w.path("f", "log")), line) {
		t.Error("the record is gone")
	}
	if n, _, err := w.Sweep(func(id thread.ID) bool { return id == "f" }); n != 0 || err != nil {
		t.Errorf("removed %d (%v)", n, err)
	}
}

// TestTokenOfLostCopy: a token whose copy is gone is not given again.
func TestTokenOfLostCopy(t *testing.T) {
	w := open(t, t.TempDir())
	m := w.add(w.set("a", ""), item("a", "one"))[0]
	w = w.again()
	must(t, os.Remove(m.File))
	w.add(w.set("b", ""), item("b", "two"))
	w.set("a", "")
	next := []thread.Token{m.Token, "max:00000001"}
	w.Draw(func() thread.Token { defer func() { next = next[1:] }(); return next[0] })
	if got := w.add(w.set("b", ""), item("c", "three"))[0]; got.Token != "max:00000001" {
		t.Errorf("%s was given again", got.Token)
	}
}

// TestTokens: no token is given twice in a store, nor one that something else uses, even if nearly all are in use.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	folder, err := private.Make(dir, "masks")
	must(t, err)
	s := masks.Open(folder, masks.Config{Taken: func(t thread.Token) bool { return t == "max:00000007" }})
	draw := func() thread.Token { return thread.Token(fmt.Sprintf("max:%08x", rand.IntN(16))) }
	given := map[thread.Token]bool{}
	for n := range 15 {
		if n == 8 { // a restart
			must(t, s.Close())
			files, err := filepath.Glob(filepath.Join(dir, "masks", "t*", "outputs", "*"))
			must(t, err)
			must(t, os.Remove(files[0])) // the log has it
			folder, err := private.Make(dir, "masks")
			must(t, err)
			s = masks.Open(folder, masks.Config{Taken: func(t thread.Token) bool { return t == "max:00000007" }})
		}
		s.Draw(draw)
		for i := range 3 {
			_, err := s.Thread(thread.ID(fmt.Sprint("t", i)), "")
			must(t, err)
		}
		set, err := s.Thread(thread.ID(fmt.Sprint("t", n%3)), "")
		must(t, err)
		err = set.Add([]masks.New{item(fmt.Sprint(n), "x")})
		for errors.Is(err, thread.ErrRefused) { // chance
			err = set.Add([]masks.New{item(fmt.Sprint(n), "x")})
		}
		must(t, err)
		m, _ := set.Mask(policy.ID(fmt.Sprint(n)))
		if given[m.Token] || m.Token == "max:00000007" {
			t.Errorf("%s was given again", m.Token)
		}
		given[m.Token] = true
	}
	set, err := s.Thread("t0", "")
	must(t, err)
	if err := set.Add([]masks.New{item("more", "x")}); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("all tokens are in use: %v", err)
	}
	must(t, s.Close())
}

// TestNoTokenTwice: tokens are not given twice, in threads that mask at once. STAGES sets how many.
func TestNoTokenTwice(t *testing.T) {
	total := 1000
	if n, err := strconv.Atoi(os.Getenv("STAGES")); err == nil {
		total = n
	}
	const threads, size = 10, 100
	w := open(t, t.TempDir())
	var all sync.WaitGroup
	for n := range threads {
		all.Go(func() {
			set, err := w.Thread(threadOf(n), "")
			for at := 0; err == nil && at < total/threads; at += size {
				var batch []masks.New
				for i := range size {
					batch = append(batch, item(fmt.Sprint(at+i), fmt.Sprint(n, " ", at+i)))
				}
				err = set.Add(batch)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	given := map[thread.Token]thread.ID{}
	for n := range threads {
		for i, m := range w.set(threadOf(n), "").All() {
			if other, twice := given[m.Token]; twice {
				t.Errorf("%s was given in %s and %s", m.Token, other, threadOf(n))
			}
			given[m.Token] = threadOf(n)
			if i > 0 && i%97 > 0 {
				continue
			}
			if got, err := w.read(m.Token); err != nil || got != fmt.Sprint(n, " ", m.ID) {
				t.Errorf("%s is %q (%v)", m.Token, got, err)
			}
		}
	}
	if len(given) != total {
		t.Errorf("%d of %d tokens", len(given), total)
	}
}
