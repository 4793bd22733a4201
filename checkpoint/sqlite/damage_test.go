package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// rounds returns how often a heavy test repeats: STORE_ROUNDS, or the small number given.
func rounds(t testing.TB, few int) int {
	if s := os.Getenv("STORE_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if checkpointtest.Raced() {
		few = (few + 2) / 3
	}
	t.Logf("%d rounds; STORE_ROUNDS=300 go test ./checkpoint/sqlite makes more", few)
	return few
}

// seeded makes all of a test's chance one that can be had again, of ids and of damage: that of STORE_SEED, or a new
// one.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	if s := os.Getenv("STORE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseInt(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("STORE_SEED=%d repeats it", seed)
	cryptotest.SetGlobalRandom(t, uint64(seed))
	return rand.New(rand.NewSource(seed))
}

// TestDamagedFile damages closed databases in many ways. The next start is never blocked, whatever it still shows is
// right, and it takes what comes next.
func TestDamagedFile(t *testing.T) {
	rnd := seeded(t)
	base := filepath.Join(t.TempDir(), "base.db")
	talks := map[string]*talk{}
	s := open(t, base)
	p := newProse()
	for i := range 3 {
		k := newTalk(t, s, fmt.Sprintf("t-%04d", i))
		for range 20 {
			k.say(p.text(500), p.text(1500))
		}
		talks[fmt.Sprintf("t-%04d", i)] = k
	}
	want := map[thread.CheckpointID][]thread.Item{}
	for _, k := range talks {
		list, err := s.Checkpoints(t.Context(), k.id, thread.Page{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if want[c.ID], err = s.Conversation(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	for n := range rounds(t, 24) {
		bad := append([]byte(nil), good...)
		at := rnd.Intn(len(bad))
		kind := []string{"bit", "page", "truncated", "header", "noise"}[n%5]
		switch kind {
		case "bit":
			bad[at] ^= 1 << rnd.Intn(8)
		case "page":
			at -= at % 1024
			clear(bad[at : at+1024])
		case "truncated":
			bad = bad[:max(1, at)]
		case "header":
			rnd.Read(bad[:100])
		case "noise":
			for range 20 {
				bad[rnd.Intn(len(bad))] = byte(rnd.Intn(256))
			}
		}
		path := filepath.Join(t.TempDir(), "state.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			if kind == "bit" && errors.Is(err, thread.ErrInvalid) || errors.Is(err, thread.ErrUnsupported) {
				continue // the bit made it another program's or a newer one's: refused by name, left alone
			}
			t.Fatalf("%s at %d blocks the start: %v", kind, at, err)
		}
		shows(t, s, want)
		if r := s.Report(); r != nil && r.Quarantined != "" {
			if _, err := os.Stat(r.Quarantined); err != nil {
				t.Errorf("the damaged file is gone: %v", err)
			}
			lost := 3*20 - r.Checkpoints
			if lost > 0 && len(r.Dropped) == 0 {
				t.Errorf("%s at %d: %d checkpoints lost and none named", kind, at, lost)
			}
			again, err := os.ReadFile(filepath.Join(r.Quarantined, "state.db"))
			if err != nil || string(again) != string(bad) {
				t.Errorf("the quarantined file changed: %v", err)
			}
		}
		goesOn(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// goesOn puts to a new thread, and to each that is there and can be read.
func goesOn(t *testing.T, s *sqlite.Store) {
	t.Helper()
	threads, err := s.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newTalk(t, s, "new-0001").say("after", "all")
	for _, th := range threads {
		k := &talk{t: t, s: s, id: th.ID}
		if th.Head != "" {
			if k.head, err = s.Checkpoint(t.Context(), th.Head); err != nil {
				continue
			}
			if _, err := s.Conversation(t.Context(), th.Head); err != nil {
				continue
			}
		}
		k.say("goes", "on")
	}
}

// shows checks that what a store shows after damage is right or an error that says so.
func shows(t *testing.T, s *sqlite.Store, want map[thread.CheckpointID][]thread.Item) {
	t.Helper()
	threads, err := s.Threads(t.Context())
	if err != nil && !errors.Is(err, thread.ErrDamaged) {
		t.Fatal(err)
	}
	for _, th := range threads {
		list, err := s.Checkpoints(t.Context(), th.ID, thread.Page{})
		if err != nil && !errors.Is(err, thread.ErrDamaged) {
			t.Fatal(err)
		}
		for _, c := range list {
			items, err := s.Conversation(t.Context(), c.ID)
			if errors.Is(err, thread.ErrDamaged) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(items) != len(want[c.ID]) {
				t.Fatalf("checkpoint %s shows %d items, had %d", c.ID, len(items), len(want[c.ID]))
			}
			for i := range items {
				if string(items[i].Raw) != string(want[c.ID][i].Raw) {
					t.Fatalf("checkpoint %s: item %d is wrong and nobody says so", c.ID, i)
				}
			}
		}
	}
}

// TestRescueKeeps zeroes a few pages in the middle: the other threads come through whole.
func TestRescueKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	p := newProse()
	for i := range 4 {
		k := newTalk(t, s, fmt.Sprintf("t-%04d", i))
		for range 20 {
			k.say(p.text(2000))
		}
	}
	if err := s.SetSetting(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) / 2 / 1024 * 1024
	copy(b[at:], make([]byte, 8*1024))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, err = sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	r := s.Report()
	if r == nil {
		t.Fatal("nothing reported")
	}
	if r.Threads != 4 || r.Checkpoints < 40 || len(r.Dropped) == 0 ||
		r.Quarantined != filepath.Join(filepath.Dir(path), "damaged-20260102T030405") {
		t.Errorf("report: %s", r)
	}
	text, err := os.ReadFile(filepath.Join(r.Quarantined, "report.txt"))
	if err != nil || !strings.Contains(string(text), "dropped:") {
		t.Errorf("written report %q, %v", text, err)
	}
	if v, err := s.Setting(t.Context(), "k"); err != nil || v != "v" {
		t.Errorf("setting %q, %v", v, err)
	}
	threads, err := s.Threads(t.Context())
	if err != nil || len(threads) != 4 {
		t.Fatal(threads, err)
	}
	for _, th := range threads {
		if th.Head == "" {
			continue // all of it stood on a damaged one
		}
		if _, err := s.Conversation(t.Context(), th.Head); err != nil {
			t.Errorf("thread %s: %v", th.Name, err)
		}
	}
}

// TestNewerSchema leaves a newer program's file alone.
func TestNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	outside(t, path, "PRAGMA user_version = 99")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, thread.ErrUnsupported) || !strings.Contains(err.Error(), "schema version 99") {
		t.Fatalf("got %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	outside(t, other, "CREATE TABLE mine (x)")
	if _, err := sqlite.Open(t.Context(), other, sqlite.Options{}); !errors.Is(err, thread.ErrInvalid) {
		t.Fatalf("another program's file: %v", err)
	}
}

// TestModes checks that nobody else can read what the store makes, and that it takes nothing planted.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	s := open(t, filepath.Join(dir, "state.db"))
	newTalk(t, s, "a-0001").say("x")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(t.TempDir(), "state.db")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), planted); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(context.Background(), planted, sqlite.Options{}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a link is taken: %v", err)
	}
}

// TestLocked holds another program's lock: a write says who is in the way, and reads go on.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Lock: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	k := newTalk(t, s, "a-0001")
	release := hold(t, path)
	err = s.SetSetting(t.Context(), "a", "b")
	if err == nil || !strings.Contains(err.Error(), "is locked by another program") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Thread(t.Context(), k.id); err != nil {
		t.Errorf("a read waits for the lock: %v", err)
	}
	other := exec.Command(os.Args[0]) // an Open here would take the locks of this process away
	other.Env = append(os.Environ(), "STORE_OPEN="+path)
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("the start waits for the lock: %v: %s", err, out)
	}
	release()
	if err := s.SetSetting(t.Context(), "a", "b"); err != nil {
		t.Error(err)
	}
}

// TestOwnFiles greps the package: nothing but SQLite opens the database.
func TestOwnFiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			for _, bad := range []string{"os.Open(", "os.OpenFile(", "os.ReadFile(", "os.Create(", "os.Open ", "syscall.Open",
				"unix.Open", ".File("} {
				allowed := f == "inspect.go" && bad == ".File(" || strings.Contains(line, "os.Open(dir)") ||
					strings.Contains(line, "os.OpenFile(image, os.O_CREATE|os.O_EXCL")
				if strings.Contains(line, bad) && !allowed {
					t.Errorf("%s:%d opens a file by itself: %s", f, i+1, line)
				}
			}
		}
	}
}

// TestDamagedThread spoils one thread's record, which the database's own check does not see.
func TestDamagedThread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	a, b := newTalk(t, s, "a-0001"), newTalk(t, s, "b-0001")
	a.say("one", "two")
	b.say("three", "four")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	outside(t, path, "UPDATE thread SET doc = substr(doc, 1, 60) || x'ffffffffffffffff' || substr(doc, 69) WHERE name = 'a-0001'")
	s = open(t, path)
	r := s.Report()
	if r == nil || r.Quarantined != "" || len(r.Dropped) != 1 || !strings.Contains(r.Dropped[0], "a-0001") {
		t.Fatalf("report %v", r)
	}
	list, err := s.Threads(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "a-0001" || list[0].Head != a.head.ID || list[1].Agent != "claude" {
		t.Fatalf("%+v, %v", list, err)
	}
	a.s, b.s = s, s
	a.say("goes", "on")
	if items, err := s.Conversation(t.Context(), a.head.ID); err != nil || len(items) != 4 {
		t.Errorf("%d items, %v", len(items), err)
	}
}
