package measures

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestMeasure says what the whole program costs. Figures depend on the machine, so nothing is
// asserted but that it works.
func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures and takes minutes; `MEASURE=1 go test -v -count=1 -timeout 60m -run TestMeasure ./cmd/orchestrator/e2e/measures` runs it")
	}
	t.Run("live programs", measurePrograms)
	t.Run("live programs in tmux", measureTmux)
	t.Run("live demo agents", measureDemos)
	t.Run("start with 1,000 stored threads", measureStart)
	t.Run("turns at once", measureTurns)
}

// cpuOf returns the processor time of a process.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	own, _ := cpusOf(t, pid)
	return own
}

// cpusOf returns the processor time of a process, and that of the programs that it ran and that have ended.
func cpusOf(t *testing.T, pid int) (own, ran time.Duration) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	ticks := func(user, system string) time.Duration {
		var sum time.Duration
		for _, f := range []string{user, system} {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(n) * 10 * time.Millisecond
		}
		return sum
	}
	return ticks(fields[11], fields[12]), ticks(fields[13], fields[14])
}

const liveThreads = 100

// talkative prints 10,000 lines and stays.
const talkative = `i=0; while [ $i -lt 10000 ]; do i=$((i+1)); printf '\033[3%dmline %d of the output of a program that says a lot, as they do\033[m\n' $((i%8)) $i; done; exec sleep 100000`

func measurePrograms(t *testing.T) {
	r := e2e.NewRig(t)
	r.Ok("threads")
	cl := r.Client()
	var ids []thread.ID
	for n := range liveThreads {
		s, err := api.New.Do(t.Context(), cl, thread.NewRequest{
			Agent: "command", Label: fmt.Sprintf("live %d", n), Flags: thread.Flags{Program: []string{"sh", "-c", talkative}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	for _, id := range ids {
		e2e.Await(t, "the last line of "+string(id), func() bool { return strings.Contains(lastScreen(t, cl, id), "line 10000 of") })
	}
	t.Logf("%d programs with 10,000 lines each: %s", liveThreads, standing(r, cl, ids))
}

// measureDemos has agents that talk, as a person's do: three turns each.
func measureDemos(t *testing.T) {
	r := e2e.NewRig(t)
	r.Ok("threads")
	cl := r.Client()
	var ids []thread.ID
	for n := range liveThreads {
		s, err := api.New.Do(t.Context(), cl, thread.NewRequest{Agent: "demo", Label: fmt.Sprintf("live %d", n), Prompt: "read README.md"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	turns := func(want int) (all []thread.Status) {
		e2e.Await(t, fmt.Sprintf("turn %d of all", want), func() bool {
			var err error
			if all, err = api.List.Do(t.Context(), cl, api.None{}); err != nil {
				t.Fatal(err)
			}
			return !slices.ContainsFunc(all, func(s thread.Status) bool { return s.Turn < want || s.State.State == thread.StateWorking })
		})
		return all
	}
	all := turns(1)
	for turn, prompt := range []string{"list files", "read hello.go"} {
		for _, id := range ids {
			if err := e2e.Send(t.Context(), cl, string(id), prompt); err != nil {
				t.Fatal(err)
			}
		}
		all = turns(turn + 2)
	}
	t.Logf("%d demo agents after three turns: %s", liveThreads, standing(r, cl, ids))
	share := 0
	for _, s := range all {
		share += e2e.ProcessOf(t, s.Execution.PID, "smaps_rollup", "Pss")
	}
	t.Logf("the %d agents themselves: %d MB together (PSS)", len(all), share/1024)
}

// standing says what a server with live threads takes while nothing happens, and how long it takes to attach.
func standing(r *e2e.Rig, cl *client.Client, ids []thread.ID) string {
	pid := r.ServerPID()
	said := atRest(r.T, pid)
	var attach []time.Duration
	for _, id := range ids {
		begin := time.Now()
		lastScreen(r.T, cl, id)
		attach = append(attach, time.Since(begin))
	}
	return fmt.Sprintf("%s, attach p50 %v p95 %v", said, e2e.Percentile(attach, 50), e2e.Percentile(attach, 95))
}

// atRest says what a process takes while nothing happens.
func atRest(t *testing.T, pid int) string {
	time.Sleep(5 * time.Second) // let it settle: this is no wait for something to happen
	const span = 20 * time.Second
	before := cpuOf(t, pid)
	time.Sleep(span)
	idle := cpuOf(t, pid) - before
	return fmt.Sprintf("RSS %d MB, %d OS threads, idle CPU %.2f %% of a core",
		e2e.ProcessOf(t, pid, "status", "VmRSS")/1024, e2e.ProcessOf(t, pid, "status", "Threads"), idle.Seconds()/span.Seconds()*100)
}

// measureTmux has tmux hold the same programs. What comes nearest to attaching is a client that prints a
// pane with 200 lines of its history, which is what our first frame holds; the client's start counts.
func measureTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux, the measure, is not installed")
	}
	dir := t.TempDir()
	call := func(args ...string) string {
		cmd := exec.Command(tmux, append([]string{"-u", "-f", "/dev/null", "-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	call("new-session", "-d", "-x", "100", "-y", "40", "sleep 100000", ";", "set", "-g", "history-limit", "10000")
	t.Cleanup(func() { call("kill-server") })
	var panes []string
	for range liveThreads {
		panes = append(panes, call("new-window", "-d", "-P", "-F", "#{pane_id}", talkative))
	}
	show := func(pane string) string { return call("capture-pane", "-e", "-p", "-S", "-200", "-t", pane) }
	for _, pane := range panes {
		e2e.Await(t, "the last line of pane "+pane, func() bool { return strings.Contains(show(pane), "line 10000 of") })
	}
	pid, err := strconv.Atoi(call("display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	said := atRest(t, pid)
	var times []time.Duration
	for _, pane := range panes {
		begin := time.Now()
		show(pane)
		times = append(times, time.Since(begin))
	}
	t.Logf("tmux with %d of the same programs: %s, a pane printed p50 %v p95 %v", liveThreads, said, e2e.Percentile(times, 50), e2e.Percentile(times, 95))
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
	r := e2e.NewRig(t)
	state := r.Claimed().StateDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(state, "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			now := time.Now()
			id := thread.NewID[thread.ID]()
			err := store.CreateThread(context.Background(), thread.Thread{ID: id, Name: thread.NewName(fmt.Sprintf("stored %d", n)), Agent: "demo", Dir: r.Project, Created: now, Updated: now})
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
		r.Ok("threads", "--json")
		starts = append(starts, time.Since(begin))
		begin = time.Now()
		s := r.Open(120, 40)
		s.See("stored")
		frames = append(frames, time.Since(begin))
		s.Press("q")
		s.End()
		r.Ok("stop")
	}
	t.Logf("with 1,000 stored threads: server started and threads listed in %v, first frame of the screen in %v (medians)", e2e.Percentile(starts, 50), e2e.Percentile(frames, 50))
}
