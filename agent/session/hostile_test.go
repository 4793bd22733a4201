package session_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/agent/session"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/sample"
)

// sessionsThatPrint are sessions whose runs may print an amount.
func sessionsThatPrint(t testing.TB, most int64) *session.Sessions {
	s := session.New(session.Config{RunOutput: most})
	t.Cleanup(func() {
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	return s
}

// heap returns how many bytes of the heap are in use at most until stop, more than now.
func heap() (stop func() (peak uint64)) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	quit, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-quit:
				peak <- most - before
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(quit); return <-peak }
}

// TestRunPrintsALot takes output that no CLI should print, in little memory, and goes on.
func TestRunPrintsALot(t *testing.T) {
	part := 8 // of 1 GB
	if sample.Whole() {
		part = 1
	}
	for _, c := range []struct {
		name, script string
		printed      int64
		reported     string // among the events
	}{
		{"a line of 100 MB", `head -c 104857600 /dev/zero | tr '\0' x; echo`, 100 << 20, "notice(a line of 100 MiB was left out)"},
		{"1 GB without a line", fmt.Sprintf(`head -c %d /dev/zero; echo`, 1<<30/part), 1 << 30 / int64(part), "was left out)"},
		{"1 GB of lines", fmt.Sprintf(`s=$(head -c 60000 /dev/zero | tr '\0' y); i=0; while [ $i -lt %d ]; do printf 'drop %%s\n' "$s"; i=$((i+1)); done`, 17896/part), 17896 / int64(part) * 60000, ""},
		{"NUL and half characters", `printf 'text a\000b \377\303\ntext \360\237'; echo; printf '\r\n\r\n\n'`, 0, "text(a\x00b \xff\xc3)text(\xf0\x9f)"},
		{"1 GB of errors", fmt.Sprintf(`s=$(head -c 6000 /dev/zero | tr '\0' y); i=0; while [ $i -lt %d ]; do printf 'e%%s\n' "$s"; i=$((i+1)); done >&2`, 178926/part), 178926 / int64(part) * 6000, "of its errors left out)"},
		{"a line of errors of 100 MB", `head -c 104857600 /dev/zero | tr '\0' x >&2`, 100 << 20, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			stop := heap()
			began := time.Now()
			kept := &keeper{}
			r := runRaw(t, sessionsThatPrint(t, 2<<30), &dropper{}, kept, `read -r go; `+c.script+`; echo "text after"; echo "end completed"`)
			if err := r.Send(context.Background(), "go"); err != nil {
				t.Fatal(err)
			}
			e := r.ends(t)
			peak := stop()
			t.Logf("%d MB at most, %v", peak>>20, time.Since(began))
			if peak > 32<<20 { // with garbage, and with the screen and its history
				t.Errorf("%d MB of memory", peak>>20)
			}
			if e.Outcome != thread.RunCompleted || !strings.Contains(r.words(), c.reported) || !strings.Contains(r.words(), "text(after)") {
				t.Errorf("told %.2000s", r.words())
			}
			if n := r.exits[0].Printed; n < c.printed || n != kept.wrote.Load() {
				t.Errorf("%d bytes counted, %d kept", n, kept.wrote.Load())
			}
		})
	}
}

// dropper is a talk that reports nothing of some lines.
type dropper struct{ talk }

func (d *dropper) Read(line []byte) thread.Said {
	if strings.HasPrefix(string(line[:min(len(line), 5)]), "drop ") {
		return thread.Said{}
	}
	return d.talk.Read(line)
}

// TestRunPrintsTooMuch ends a run that prints more than it may, also one that ignores signals, and keeps what it may.
func TestRunPrintsTooMuch(t *testing.T) {
	const most = 3 << 20
	for _, to := range []string{"", ">&2"} {
		r := runIn(t, sessionsThatPrint(t, most), &talk{}, `trap "" TERM HUP; read p; echo "text first"; while :; do head -c 100000 /dev/zero | tr '\0' '\n' `+to+`; done`)
		if err := r.Send(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		const why = "ended after it printed 3 MiB: limits.run_output_mb allows no more"
		if e := r.ends(t); e.Outcome != thread.RunFailed || e.Reason != why {
			t.Errorf("end %+v", e)
		}
		if x := r.exits[0]; !x.Limit || x.Reason != why || x.Printed <= most {
			t.Errorf("exit %+v", x)
		}
		if r.raw.Len() != most {
			t.Errorf("%d bytes kept", r.raw.Len())
		}
	}
}

// keeper is a writer that fails, or that is stuck.
type keeper struct {
	fails error
	stuck chan struct{}
	wrote atomic.Int64
}

func (k *keeper) Write(b []byte) (int, error) {
	if k.stuck != nil {
		<-k.stuck
	}
	if k.fails != nil && k.wrote.Load() > 10_000 {
		return 0, k.fails
	}
	k.wrote.Add(int64(len(b)))
	return len(b), nil
}

// TestRunIsNotKept goes on when its output cannot be kept, and says so once.
func TestRunIsNotKept(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	for name, c := range map[string]struct {
		to   *keeper
		says string
	}{
		"full":  {&keeper{fails: errors.New("disk is full")}, "notice(the rest of its output is not kept: disk is full)"},
		"stuck": {&keeper{stuck: stuck}, "notice(the rest of its output is not kept: it cannot be written fast enough)"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			r := runRaw(t, sessionsThatPrint(t, 0), &dropper{}, c.to, `read p; awk 'BEGIN { for (i = 0; i < 200000; i++) print "drop 0123456789012345" }'; echo "end completed"`)
			if err := r.Send(context.Background(), "go"); err != nil {
				t.Fatal(err)
			}
			if e := r.ends(t); e.Outcome != thread.RunCompleted {
				t.Errorf("end %+v", e)
			}
			if n := strings.Count(r.words(), "not kept"); n != 1 || !strings.Contains(r.words(), c.says) {
				t.Errorf("told %s", r.words())
			}
			t.Logf("after %v", time.Since(began))
		})
	}
}

// TestRunDialogueSaysTooMuch holds that a dialogue is not believed that goes on after the end.
func TestRunDialogueSaysTooMuch(t *testing.T) {
	r := runIn(t, sessions(t), &talk{}, `read p; echo "end completed"; echo "text late"; for i in 1 2 3; do echo "end failed"; done; echo late >&2`)
	if err := r.Send(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	r.ends(t)
	if got := r.words(); got != "end(completed)" && got != "line(late)end(completed)" {
		t.Errorf("told %s", got)
	}
}

// TestManyRuns runs many at once, and ends some.
func TestManyRuns(t *testing.T) {
	all := sessionsThatPrint(t, 0)
	var runs []*headless
	for i := range 24 {
		r := runAs(t, all, thread.ID(fmt.Sprint("r", i)), &talk{}, nil, `read p; i=0; while [ $i -lt 200 ]; do echo "text line $i"; echo "error $i" >&2; i=$((i+1)); done
			[ $p = stay ] && { setsid sleep 1000 & sleep 1000; }; echo "end completed"`)
		runs = append(runs, r)
	}
	for i, r := range runs {
		if err := r.Send(context.Background(), []string{"go", "stay"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range runs {
		if i%2 == 1 {
			go func() { _ = r.Cancel(context.Background()) }() // the end is awaited below
		}
	}
	for i, r := range runs {
		if e := r.ends(t); i%2 == 0 && e.Outcome != thread.RunCompleted || i%2 == 1 && e.Outcome != thread.RunCancelled {
			t.Errorf("run %d: %+v", i, e)
		}
	}
}

// TestRunHasTooManyProcesses ends a run for that, which has failed.
func TestRunHasTooManyProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: processes are counted on Linux only; run it there")
	}
	all := session.New(session.Config{Processes: 4, CountEvery: 10 * time.Millisecond})
	defer func() {
		if err := all.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	}()
	r := runIn(t, all, &talk{}, `read p; for i in 1 2 3 4 5 6; do sleep 1000 & done; wait`)
	if err := r.Send(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	if e := r.ends(t); e.Outcome != thread.RunFailed || !strings.Contains(e.Reason, "limits.processes") || !r.exits[0].Limit {
		t.Errorf("end %+v, exit %+v", e, r.exits[0])
	}
}

// TestRunCancelledWhileStuck: a writer that takes nothing delays neither a cancel nor the screens of others.
func TestRunCancelledWhileStuck(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	all := sessionsThatPrint(t, 1<<40)
	r := runRaw(t, all, &dropper{}, &keeper{stuck: stuck}, `trap "" INT TERM; read p; echo "text ready"; while :; do echo "drop 01234567890123456789012345678901234567890123456789"; done`)
	if err := r.Send(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the work", func() bool { return strings.Contains(r.words(), "ready") })
	began := time.Now()
	other := start(t, all, "other", `echo seen; sleep 1000`)
	await.Until(t, "the other's screen", func() bool { return other.shows("seen") })
	t.Logf("the other was seen after %v", time.Since(began))
	began = time.Now()
	if err := r.Cancel(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("cancelled in %v", time.Since(began))
	if e := r.ends(t); e.Outcome != thread.RunCancelled {
		t.Errorf("end %+v", e)
	}
}
