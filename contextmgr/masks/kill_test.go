package masks_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread/private"
)

// writerVariable names a folder in which the test's program masks contents until it is killed.
const writerVariable = "MASKS_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		if err := maskForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// batchSize is how many contents the writer masks at once.
const batchSize = 5

func contentOf(batch, n int) string {
	return strings.Repeat(fmt.Sprintf("batch %d, content %d\n", batch, n), 1+batch%7*500)
}

// maskForEver prints the number of each batch once it is stored.
func maskForEver(dir string) error {
	folder, err := private.Make(dir, "masks")
	if err != nil {
		return err
	}
	set, err := masks.Open(folder, masks.Config{}).Thread("t1", "")
	if err != nil {
		return err
	}
	for batch := len(set.All()) / batchSize; ; batch++ {
		var all []masks.New
		for n := range batchSize {
			all = append(all, item(fmt.Sprint(batch, "-", n), contentOf(batch, n)))
		}
		if err := set.Add(all); err != nil {
			return err
		}
		fmt.Println(batch)
	}
}

// TestKilledWriter kills a writer at random moments: each batch is there whole or not at all, what was stored is there,
// and so are the files. KILL_ROUNDS sets how often.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rounds := 5
	if n, err := strconv.Atoi(os.Getenv("KILL_ROUNDS")); err == nil {
		rounds = n
	}
	stubs := map[policy.ID]string{}
	for range rounds {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the writer ended: %v", err)
		}
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		printed := strings.Fields(first + string(rest))
		last, err := strconv.Atoi(printed[len(printed)-1])
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, dir)
		set := w.set("t1", "")
		all := set.All()
		if len(all)%batchSize != 0 || len(all) < (last+1)*batchSize || set.Lost > 0 {
			t.Fatalf("%d masks after batch %d of %d was stored, %d records lost", len(all), last, batchSize, set.Lost)
		}
		for i, m := range all {
			w.has(set, string(m.ID), contentOf(i/batchSize, i%batchSize))
			if was, ok := stubs[m.ID]; ok && was != m.Stub {
				t.Errorf("%s was masked as %q, now as %q", m.ID, was, m.Stub)
			}
			stubs[m.ID] = m.Stub
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
