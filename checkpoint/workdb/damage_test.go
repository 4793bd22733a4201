package workdb_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// filled makes a closed file with executions, each with some events, and returns it.
func filled(t *testing.T, n int) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	for i := range n {
		add(t, s, thread.ID(fmt.Sprint("t", i)), work.Event{Kind: "text", Text: strings.Repeat("some words ", 20)},
			work.Event{Kind: "text", Text: "end"})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

// TestDamagedFile: whatever is wrong with the file, a start sets it aside as it was, says so, and goes on with what can
// be read of it.
func TestDamagedFile(t *testing.T) {
	path, good := filled(t, 200)
	half := bytes.Clone(good)
	for i := len(half) / 2; i < len(half)/2+3*4096; i++ {
		half[i] = 0xff
	}
	for name, tc := range map[string]struct {
		content []byte
		least   int // how many must be left
	}{
		"no database":     {[]byte(strings.Repeat("hello world ", 1000)), 0},
		"header":          {append(bytes.Repeat([]byte{0}, 100), good[100:]...), 0},
		"middle":          {half, 50},
		"cut":             {good[:len(good)*3/4], 0},
		"one byte":        {good[:1], 0},
		"all but nothing": {bytes.Repeat([]byte{0}, len(good)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(path, tc.content, 0o600); err != nil {
				t.Fatal(err)
			}
			s := repaired(t, path)
			finds, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "damaged-*"))
			if len(finds) != 1 || !strings.Contains(s.Report(), "set aside") {
				t.Fatalf("%v: %q", finds, s.Report())
			}
			if kept, err := os.ReadFile(filepath.Join(finds[0], "work.db")); err != nil || !bytes.Equal(kept, tc.content) {
				t.Errorf("it was not set aside as it was: %d bytes, %v", len(kept), err)
			}
			if text, err := os.ReadFile(filepath.Join(finds[0], "report.txt")); err != nil || string(text) != s.Report() {
				t.Errorf("%q: %v", text, err)
			}
			list, err := s.Executions(t.Context(), work.Query{Limit: 1000})
			if err != nil || len(list) < tc.least {
				t.Errorf("%d left of 200, want %d: %v", len(list), tc.least, err)
			}
			most := 0
			for _, x := range list {
				var n int
				if _, err := fmt.Sscanf(x.Name, "exec-%d", &n); err != nil {
					t.Fatal(err)
				}
				most = max(most, n)
			}
			var next int
			if _, err := fmt.Sscanf(add(t, s, "t").Name, "exec-%d", &next); err != nil || next <= most {
				t.Errorf("%d was given again", next)
			}
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamagedInTwoPlaces: what lies between two damaged pages is rescued too.
func TestDamagedInTwoPlaces(t *testing.T) {
	path, bad := filled(t, 400)
	for _, name := range []string{"exec-040", "exec-360"} {
		at := bytes.Index(bad, []byte(`"name":"`+name+`"`))
		if at < 0 {
			t.Fatalf("no %s", name)
		}
		page := at / 4096 * 4096
		copy(bad[page:page+4096], bytes.Repeat([]byte{0xff}, 4096))
	}
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	s := repaired(t, path)
	list, err := s.Executions(t.Context(), work.Query{Limit: 1000})
	if err != nil || len(list) < 350 || !strings.Contains(s.Report(), "runs are gone") {
		t.Errorf("%d left of 400, %q: %v", len(list), s.Report(), err)
	}
}

// repaired opens a damaged file: if the start does not notice, as it reads a few pages only, the check does, and the
// next start repairs it.
func repaired(t *testing.T, path string) *workdb.Store {
	t.Helper()
	s := open(t, path, workdb.Options{})
	if s.Report() != "" {
		return s
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "estart to repair it") {
		t.Fatalf("nobody notices: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path, workdb.Options{})
}

// TestFlippedBits: a bit that is flipped anywhere costs no more than the rows beside it, and no call fails for ever.
func TestFlippedBits(t *testing.T) {
	_, good := filled(t, 60)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	for range 25 {
		bad := bytes.Clone(good)
		at := rnd.Intn(len(bad))
		bad[at] ^= 1 << rnd.Intn(8)
		path := filepath.Join(t.TempDir(), "work.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := workdb.Open(t.Context(), path, workdb.Options{})
		if err != nil {
			if at < 100 { // the header: of another version, or another program
				continue
			}
			t.Fatalf("byte %d: %v", at, err)
		}
		if s.Check(t.Context()) != nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = workdb.Open(t.Context(), path, workdb.Options{}); err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
		list, err := s.Executions(t.Context(), work.Query{Limit: 1000})
		if err != nil || len(list) < 20 && at > 8192 {
			t.Errorf("byte %d: %d left of 60: %v", at, len(list), err)
		}
		for _, x := range list {
			if _, err := s.Events(t.Context(), x.ID, 0, 0); err != nil {
				t.Errorf("byte %d: %s: %v", at, x.Name, err)
			}
		}
		add(t, s, "new")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCheckedAfterUncleanEnd: only then does a start check all of the file, in the background.
func TestCheckedAfterUncleanEnd(t *testing.T) {
	path, good := filled(t, 200)
	bad := bytes.Clone(good)
	at := bytes.Index(bad, []byte(`"name":"exec-100"`)) // a page that no start reads
	if at < 0 {
		t.Fatal("no exec-100")
	}
	copy(bad[at/4096*4096:], bytes.Repeat([]byte{0xff}, 4096))
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	o := workdb.Options{Damaged: func(err error) { told <- err }}
	s := open(t, path, o)
	if s.Report() != "" {
		t.Fatal(s.Report())
	}
	add(t, s, "t1") // a log that the killed server leaves
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		t.Fatalf("a clean start checked: %v", err)
	default:
	}
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, o)
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "estart to repair it") {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("nobody was told: %q", s.Report())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, o)
	if list, err := s.Open(t.Context()); err != nil || len(list) < 150 || s.Report() == "" {
		t.Errorf("%d left of 201, %q: %v", len(list), s.Report(), err)
	}
}

// TestKilledInRescue: a start that is killed while it repairs is finished by the next one.
func TestKilledInRescue(t *testing.T) {
	_, good := filled(t, 50)
	for _, place := range []string{"workdb.rescue.noted", "workdb.rescue.moved", "workdb.migrate.step", "workdb.commit.before:5",
		"workdb.commit.after:20", "workdb.rescue.copied"} {
		path := filepath.Join(t.TempDir(), "work.db")
		bad := bytes.Clone(good)
		copy(bad[len(bad)/2:], bytes.Repeat([]byte{0xff}, 4096))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-suspect", []byte("found before"), 0o600); err != nil {
			t.Fatal(err)
		}
		live(t, path, 0, "ORCHESTRATOR_FAILPOINT="+place)
		s := open(t, path, workdb.Options{})
		list, err := s.Executions(t.Context(), work.Query{Limit: 1000})
		if err != nil || len(list) < 20 {
			t.Errorf("%s: %d left of 50: %v", place, len(list), err)
		}
		finds, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "damaged-*"))
		if len(finds) != 1 {
			t.Fatalf("%s: %v", place, finds)
		}
		if kept, err := os.ReadFile(filepath.Join(finds[0], "work.db")); err != nil || !bytes.Equal(kept, bad) {
			t.Errorf("%s: it was not set aside as it was: %v", place, err)
		}
		for _, end := range []string{"-suspect", "-rescue", "-fresh", "-fresh-wal", "-fresh-shm"} {
			if _, err := os.Lstat(path + end); err == nil {
				t.Errorf("%s: %s is left", place, end)
			}
		}
	}
}
