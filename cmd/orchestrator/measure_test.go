package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// TestMeasure says what the whole program costs. Figures depend on the machine, so nothing is
// asserted but that it works.
func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures and takes minutes; `MEASURE=1 go test -v -count=1 -timeout 60m -run TestMeasure ./cmd/orchestrator` runs it")
	}
	t.Run("100 live threads", measureLive)
	t.Run("start with 1,000 stored threads", measureStart)
}

// processOf reads a figure of a process: VmRSS in KB, Threads.
func processOf(t *testing.T, pid int, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("SKIPPED: no /proc here: %v", err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s is not in the status of %d", name, pid)
	return 0
}

// cpuOf returns the processor time of a process.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// percentile of times.
func percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, len(times)*p/100)]
}

func (r *rig) client() *client.Client {
	r.t.Helper()
	p, err := findProject(r.project, lookup(r.env, "XDG_RUNTIME_DIR"))
	if err != nil {
		r.t.Fatal(err)
	}
	cl := client.New(p.Socket)
	r.t.Cleanup(cl.Close)
	return cl
}

func measureLive(t *testing.T) {
	r := newRig(t)
	r.ok("threads")
	cl := r.client()
	const threads = 100
	var ids []thread.ID
	for n := range threads {
		s, err := cl.New(t.Context(), thread.NewRequest{
			Agent: "command", Label: fmt.Sprintf("live %d", n),
			Flags: thread.Flags{Program: []string{"sh", "-c", `i=0; while [ $i -lt 10000 ]; do i=$((i+1)); printf '\033[3%dmline %d of the output of a program that says a lot, as they do\033[m\n' $((i%8)) $i; done; exec sleep 100000`}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	for _, id := range ids {
		await(t, "the last line of "+string(id), func() bool { return strings.Contains(lastScreen(t, cl, id), "line 10000 of") })
	}
	pid := r.serverPID()
	time.Sleep(5 * time.Second) // let it settle: this is no wait for something to happen
	before := cpuOf(t, pid)
	time.Sleep(20 * time.Second)
	idle := cpuOf(t, pid) - before
	var attach []time.Duration
	for _, id := range ids {
		begin := time.Now()
		lastScreen(t, cl, id)
		attach = append(attach, time.Since(begin))
	}
	t.Logf("100 threads with 10,000 lines each: RSS %d MB, %d OS threads, idle CPU %.2f %% of a core, attach p50 %v p95 %v",
		processOf(t, pid, "VmRSS")/1024, processOf(t, pid, "Threads"), idle.Seconds()/20*100, percentile(attach, 50), percentile(attach, 95))
}

// lastScreen attaches to a terminal and returns the first frame.
func lastScreen(t *testing.T, cl *client.Client, id thread.ID) string {
	t.Helper()
	term, err := cl.Attach(t.Context(), id, 100, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = term.Close() }()
	b, err := term.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func measureStart(t *testing.T) {
	r := newRig(t)
	state := filepath.Join(r.project, stateName)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(state, "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			now := time.Now()
			id := thread.NewID[thread.ID]()
			err := store.CreateThread(context.Background(), thread.Thread{ID: id, Name: thread.NewName(fmt.Sprintf("stored %d", n)), Agent: "demo", Dir: r.project, Created: now, Updated: now})
			if err == nil {
				_, err = store.PutCheckpoint(context.Background(), thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Turn: 1, Kind: thread.KindTurn, Created: now, Prompt: "hello"}, thread.Delta{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var starts, frames []time.Duration
	for range 5 {
		begin := time.Now()
		r.ok("threads", "--json")
		starts = append(starts, time.Since(begin))
		begin = time.Now()
		s := r.open(120, 40)
		s.see("stored")
		frames = append(frames, time.Since(begin))
		s.press("q")
		s.end()
		r.ok("stop")
	}
	t.Logf("with 1,000 stored threads: server started and threads listed in %v, first frame of the screen in %v (medians)", percentile(starts, 50), percentile(frames, 50))
}
