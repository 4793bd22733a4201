package masks_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

// writerVariable names a folder in which the test's program masks contents until it is killed.
const writerVariable = "MASKS_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		failpoint.Arm()
		fmt.Fprintln(os.Stderr, maskForEver(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	batchSize = 5
	// threadBatches is how many batches a thread of the writer gets; each thread is a fork of the one before.
	threadBatches = 8
	// maxThreads is how many threads a writer fills if nobody kills it.
	maxThreads = 50
)

func threadOf(n int) thread.ID { return thread.ID(fmt.Sprint("t", n)) }

// batchNumber returns a batch of the writer.
func batchNumber(n int) (batch []masks.New) {
	for i := range batchSize {
		id := fmt.Sprint(n, "-", i)
		batch = append(batch, item(id, contentOf(id)))
	}
	return batch
}

// contentOf returns the content with an id of the writer's.
func contentOf(id string) string {
	batch, _, _ := strings.Cut(id, "-")
	n, _ := strconv.Atoi(batch) // of an id that the writer made
	return strings.Repeat(fmt.Sprintf("content %s\n", id), 1+n%7*500)
}

// maskForEver prints the number of each batch once it is stored.
func maskForEver(dir string) error {
	folder, err := private.Make(dir, "masks")
	if err != nil {
		return err
	}
	s := masks.Open(folder, masks.Config{})
	last, err := lastThread(dir)
	if err != nil {
		return err
	}
	for n := last; n < last+maxThreads; n++ {
		parent := thread.ID("")
		if n > 0 {
			parent = threadOf(n - 1)
		}
		set, err := s.Thread(threadOf(n), parent)
		if err != nil {
			return err
		}
		for at := len(set.All()) / batchSize; at < (n+1)*threadBatches; at++ {
			if err := set.Add(batchNumber(at)); err != nil {
				return err
			}
			fmt.Println(at)
		}
		s.Settle()
		m := set.All()[0]
		for _, content := range []string{"lie", ""} {
			err := os.Remove(m.File)
			if err == nil && content != "" {
				err = os.WriteFile(m.File, []byte(content), 0o600)
			}
			if err == nil {
				_, _, err = s.Open(m.Token)
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.New("nobody killed it")
}

// lastThread returns the number of the newest thread.
func lastThread(dir string) (int, error) {
	all, err := filepath.Glob(filepath.Join(dir, "masks", "t*"))
	return max(0, len(all)-1), err
}

// TestKilledWriter kills a writer at random moments. KILL_ROUNDS sets how often.
func TestKilledWriter(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	if n, err := strconv.Atoi(os.Getenv("KILL_ROUNDS")); err == nil {
		rounds = n
	}
	h := newHunt(t)
	for range rounds {
		h.kill(t, "", time.Duration(rand.IntN(30_000))*time.Microsecond)
	}
}

// hunt kills writers in one folder.
type hunt struct {
	dir   string
	exe   string
	stubs map[policy.ID]string
	from  int // the first thread that may have changed since the last kill
}

func newHunt(t *testing.T) *hunt {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	return &hunt{dir: t.TempDir(), exe: exe, stubs: map[policy.ID]string{}}
}

// kill starts a writer, which is killed at a failpoint, or some time after it stored its first batch; then it checks
// what is left.
func (h *hunt) kill(t *testing.T, place string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(h.exe)
	cmd.Env = append(os.Environ(), writerVariable+"="+h.dir, "ORCHESTRATOR_FAILPOINT="+place)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if place == "" {
		if err != nil {
			t.Fatalf("the writer ended: %v\n%s", err, &errs)
		}
		time.Sleep(after)
		must(t, cmd.Process.Kill())
	}
	rest, err := io.ReadAll(lines)
	must(t, err)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the writer was not killed: %v\n%s", err, &errs)
	}
	last := -1
	if printed := strings.Fields(first + string(rest)); len(printed) > 0 {
		last, err = strconv.Atoi(printed[len(printed)-1])
		must(t, err)
	}
	h.check(t, last)
}

// check checks the threads that the last writer worked in. It stored the batch called last, -1 if it is not known to
// have stored any.
func (h *hunt) check(t *testing.T, last int) {
	t.Helper()
	w := open(t, h.dir)
	newest, err := lastThread(h.dir)
	must(t, err)
	total := 0
	for n := h.from; n <= newest; n++ {
		parent := thread.ID("")
		if n > 0 {
			parent = threadOf(n - 1)
		}
		all := w.set(threadOf(n), parent).All()
		if total = len(all); total%batchSize != 0 || n < newest && total != (n+1)*threadBatches*batchSize {
			t.Fatalf("thread %d has %d masks", n, total)
		}
		for _, m := range all {
			w.whole(m)
			if was, ok := h.stubs[m.ID]; ok && was != m.Stub {
				t.Errorf("%s was masked as %q, now as %q", m.ID, was, m.Stub)
			}
			h.stubs[m.ID] = m.Stub
		}
	}
	if total < (last+1)*batchSize {
		t.Errorf("%d masks after batch %d was stored", total, last)
	}
	if len(w.notices) > 0 {
		t.Errorf("notices: %q", w.notices)
	}
	h.from = newest
	must(t, w.Close())
}

// whole checks a mask of the writer's and its copy.
func (w *world) whole(m masks.Mask) {
	w.Helper()
	if want := item(string(m.ID), "").Text(m.File, m.Token); m.Stub != want {
		w.Errorf("%s: the text is %q, want %q", m.ID, m.Stub, want)
	}
	if got, err := os.ReadFile(m.File); err != nil || string(got) != contentOf(string(m.ID)) {
		w.Errorf("%s: its file has %d bytes (%v)", m.ID, len(got), err)
	}
}
