package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/sample"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_OPEN"); path != "" {
		failpoint.Arm()
		s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv("STORE_CHILD"); path != "" {
		failpoint.Arm()
		if err := child(path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const childThreads = 4

// child puts to a few threads at once until it is killed, and says what was acknowledged: "ack id items".
func child(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	if s.Report() != nil {
		return fmt.Errorf("a kill damaged the file: %s", s.Report())
	}
	var out sync.Mutex // keeps lines whole
	errs := make(chan error, childThreads)
	for w := range childThreads {
		go func() { errs <- work(ctx, s, w, &out) }()
	}
	for range childThreads {
		if err := <-errs; err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin) // stay until killed, or until whoever started us is gone
	return err
}

func work(ctx context.Context, s *sqlite.Store, w int, out *sync.Mutex) error {
	id := thread.ID(fmt.Sprintf("thread-%d", w))
	t, err := s.Thread(ctx, id)
	if errors.Is(err, thread.ErrNotFound) {
		t = thread.Thread{ID: id, Name: string(id)}
		err = s.CreateThread(ctx, t)
	}
	if err != nil {
		return err
	}
	items := 0
	if t.Head != "" {
		c, err := s.Checkpoint(ctx, t.Head)
		if err != nil {
			return err
		}
		items = c.Items
	}
	puts, err := strconv.Atoi(os.Getenv("STORE_CHILD_PUTS"))
	if err != nil {
		return err
	}
	for range puts {
		c := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Parent: t.Head, Turn: items,
			Kind: thread.KindTurn}
		text := fmt.Sprintf("%s item %d ", id, items)
		c, err := s.PutCheckpoint(ctx, c, thread.Delta{Keep: items,
			Items: []thread.Item{{Wire: "w", Raw: []byte(text + strings.Repeat("x", items%3000))}}})
		if err != nil {
			return err
		}
		t.Head, items = c.ID, c.Items
		out.Lock()
		fmt.Println("ack", c.ID, c.Items)
		out.Unlock()
	}
	return nil
}

// run starts a child, kills it after some acknowledgements (0: its failpoint does) and returns what was
// acknowledged.
func run(t *testing.T, path string, kill, puts int, env ...string) map[thread.CheckpointID]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), "STORE_CHILD="+path, fmt.Sprint("STORE_CHILD_PUTS=", puts)), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[thread.CheckpointID]int{}
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if msg, bad := strings.CutPrefix(sc.Text(), "error "); bad {
			t.Errorf("child: %s", msg)
		}
		var id thread.CheckpointID
		var items int
		if n, _ := fmt.Sscanf(sc.Text(), "ack %s %d", &id, &items); n != 2 {
			continue // cut off by the kill
		}
		acked[id] = items
		if kill > 0 && len(acked) == kill {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	return acked
}

// holds opens the store after a kill: everything acknowledged is there, whole, and nothing is half there.
func holds(t *testing.T, path string, acked map[thread.CheckpointID]int) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if s.Report() != nil {
		t.Errorf("a kill damaged the file: %s", s.Report())
	}
	for id, items := range acked {
		if c, err := s.Checkpoint(t.Context(), id); err != nil || c.Items != items {
			t.Errorf("LOST: acknowledged checkpoint %s: %d items, %v", id, c.Items, err)
		}
	}
	threads, err := s.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		if th.Head == "" {
			continue
		}
		head, err := s.Checkpoint(t.Context(), th.Head)
		if err != nil {
			t.Fatal(err)
		}
		if head.Seq != int64(head.Items) {
			t.Errorf("thread %s: checkpoint %d has %d items: a gap", th.ID, head.Seq, head.Items)
		}
		got, err := s.Conversation(t.Context(), th.Head)
		if err != nil {
			t.Fatal(err)
		}
		for i, it := range got {
			if want := fmt.Sprintf("%s item %d %s", th.ID, i, strings.Repeat("x", i%3000)); string(it.Raw) != want {
				t.Fatalf("thread %s: item %d is %.60q", th.ID, i, it.Raw)
			}
		}
	}
}

// TestKill kills a writing process again and again on one database.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	rnd := rand.New(rand.NewSource(5))
	all := map[thread.CheckpointID]int{}
	for range rounds(t, 5) {
		for id, items := range run(t, path, 1+rnd.Intn(100), 400) {
			all[id] = items
		}
		holds(t, path, all)
	}
	t.Logf("%d acknowledged", len(all))
}

// TestKillAtFailpoints dies at each place where a crash would hurt.
func TestKillAtFailpoints(t *testing.T) {
	for _, point := range sample.Of(t, 2, []string{"sqlite.migrate.step", "sqlite.migrate.version", "sqlite.migrate.done",
		"sqlite.commit.before", "sqlite.commit.before:7",
		"sqlite.commit.after", "sqlite.commit.after:40", "sqlite.fold.before", "sqlite.fold.after"}) {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			puts := 450 // a thread, so that the writer makes the commits after which it folds
			again := !strings.Contains(point, "migrate")
			for n := range rounds(t, 2) {
				if n > 0 && !again {
					path = filepath.Join(t.TempDir(), "state.db") // it happens once a database
				}
				acked := run(t, path, 0, puts, "ORCHESTRATOR_FAILPOINT="+point)
				holds(t, path, acked)
				for id, items := range run(t, path, 60, 400) {
					acked[id] = items
				}
				holds(t, path, acked)
			}
		})
	}
}

// TestKillCleanEnd dies right after it took away what says that the store was closed whole, and right before it says so:
// nothing says so then.
func TestKillCleanEnd(t *testing.T) {
	for _, point := range []string{"sqlite.clean.taken", "sqlite.clean.leave"} {
		path := filepath.Join(t.TempDir(), "state.db")
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + "-clean"); err != nil {
			t.Error(err)
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "STORE_OPEN="+path, "ORCHESTRATOR_FAILPOINT="+point)
		if out, err := c.CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("%s: it did not die: %v: %s", point, err, out)
		}
		if _, err := os.Stat(path + "-clean"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the store is said to be closed: %v", point, err)
		}
		if r := open(t, path).Report(); r != nil {
			t.Errorf("%s: %v", point, r)
		}
	}
}

// TestKillRescue dies while a damaged store is being rescued: the next start does it again.
func TestKillRescue(t *testing.T) {
	for _, point := range []string{"sqlite.rescue.copied", "sqlite.rescue.moved", "sqlite.rescue.moved:2",
		"sqlite.rescue.moved:3"} {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			made, p := open(t, path), newProse()
			k := newTalk(t, made, "a-0001")
			for range 60 {
				k.say(p.text(2000))
			}
			if err := made.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(b[len(b)/2/1024*1024:][:8192])
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "STORE_CHILD="+path, "ORCHESTRATOR_FAILPOINT="+point)
			if err := cmd.Run(); err == nil {
				t.Fatal("the child lives")
			}
			s := open(t, path)
			list, err := s.Threads(t.Context())
			if err != nil || len(list) == 0 {
				t.Errorf("%d threads, %v: the rescue lost them: %v", len(list), err, s.Report())
			}
		})
	}
}
