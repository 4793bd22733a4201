package measures

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/many"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/checkpoint/workdb"
	"orchestrator/cmd/orchestrator/e2e"
)

// TestMeasureMany says how long a server takes until it has listed its threads, how long the list and the first picture
// of the screen then take, and how much memory it has some seconds later, with 100 threads in use alone, and with 20,000 finished
// runs of 100 events each beside them, by turns in one run. The first start, which checks the whole store and fills the index of
// the search, is said apart, and ends when the index is full. MEASURE_BESIDE names the program of another build, which is measured by turns
// with this one; MEASURE_RUNS is another number of runs.
func TestMeasureMany(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -run TestMeasureMany ./cmd/orchestrator/e2e/measures` runs it")
	}
	runs := 20000
	if s := os.Getenv("MEASURE_RUNS"); s != "" {
		var err error
		if runs, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	type measured struct {
		what                          string
		rig                           *e2e.Rig
		starts, work, lists, pictures []time.Duration
		memory, peak                  []int // kB
	}
	var cases []*measured
	programs := []string{e2e.Program}
	if beside := os.Getenv("MEASURE_BESIDE"); beside != "" {
		programs = append(programs, beside)
	}
	for _, n := range []int{0, runs} {
		for _, program := range programs {
			c := &measured{what: fmt.Sprintf("%s, %d runs", filepath.Base(program), n), rig: e2e.NewRig(t)}
			c.rig.Program = program
			storeMany(t, c.rig, many.Project{Dir: c.rig.Project, Live: 100, Runs: n, Turns: 2, Now: time.Now()})
			cases = append(cases, c)
		}
	}
	for round := range 6 {
		for _, c := range cases {
			begin := time.Now()
			list := c.rig.Command("threads")
			if out, err := list.CombinedOutput(); err != nil {
				t.Fatalf("threads: %v\n%s", err, out)
			}
			c.starts = append(c.starts, time.Since(begin))
			c.work = append(c.work, list.ProcessState.UserTime()+list.ProcessState.SystemTime()+cpuOf(t, c.rig.ServerPID()))
			begin = time.Now()
			c.rig.Ok("threads")
			c.lists = append(c.lists, time.Since(begin))
			begin = time.Now()
			s := c.rig.Open(80, 24)
			s.See("live")
			c.pictures = append(c.pictures, time.Since(begin))
			s.Press("q")
			s.End()
			time.Sleep(4 * time.Second) // what begins after a start has begun
			awaitRest(t, c.rig.ServerPID())
			c.memory = append(c.memory, memoryOf(t, c.rig.ServerPID(), "VmRSS"))
			c.peak = append(c.peak, memoryOf(t, c.rig.ServerPID(), "VmHWM"))
			if c.rig.Ok("stop"); round == 0 {
				t.Logf("%s: the first start took %v, and at most %d MB", c.what, c.starts[0], c.peak[0]/1024)
				c.starts, c.work, c.lists, c.pictures, c.memory, c.peak = nil, nil, nil, nil, nil, nil
			}
		}
	}
	for _, c := range cases {
		t.Logf("%s: started and listed in %v, with %v of the processors, listed again in %v, on the screen in %v, (medians), memory at most %d MB, at its peak %d MB",
			c.what, e2e.Percentile(c.starts, 50), e2e.Percentile(c.work, 50), e2e.Percentile(c.lists, 50),
			e2e.Percentile(c.pictures, 50), slices.Max(c.memory)/1024, slices.Max(c.peak)/1024)
	}
}

func storeMany(t *testing.T, r *e2e.Rig, p many.Project) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(r.Claimed().StateDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := many.Fill(t.Context(), s, p); err != nil {
		t.Error(err)
	}
	w, err := workdb.Open(t.Context(), filepath.Join(r.Claimed().StateDir(), "work.db"), workdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := many.Executions(t.Context(), s, w, 100); err != nil {
		t.Error(err)
	}
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// awaitRest waits until a process does nothing for a while.
func awaitRest(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		was := cpuOf(t, pid)
		time.Sleep(time.Second)
		if cpuOf(t, pid)-was < 30*time.Millisecond {
			return
		}
	}
	t.Fatal("the server does not come to rest")
}

// memoryOf returns a figure of a process's memory in kB.
func memoryOf(t *testing.T, pid int, what string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, what+":"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the process has no %s", what)
	return 0
}
