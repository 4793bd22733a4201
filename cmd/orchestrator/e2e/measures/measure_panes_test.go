package measures

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// busyProgram's like, that fills its history first, and one that prints as fast as it is read.
const (
	filled       = `for (1 .. 10000) { print "\e[3" . ($_ % 8) . "m$_ a line of ordinary text, as agents print it all day\n" } `
	busyFilled   = filled + busyProgram
	floodProgram = filled + `while (1) { print "\e[3" . ($i++ % 8) . "ma line that is printed for ever and ever, as fast as it goes\n" }`
)

// openBeside opens the screen on a program of which the keys are measured, beside three others, in a wall or alone.
func openBeside(t *testing.T, program, others string, wall bool) *outside {
	t.Helper()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "PS1=$ ", "COLORTERM=truecolor")
	r.Ok("threads")
	cl := r.Client()
	begin := func(label string, args ...string) thread.Status {
		s, err := api.New.Do(t.Context(), cl, thread.NewRequest{Agent: "command", Label: label, Flags: thread.Flags{Program: args}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for n := range 3 {
		if others != "" {
			begin(fmt.Sprintf("beside %d", n), "perl", "-e", others)
		}
	}
	s := begin("measured", "sh", "-c", program)
	o := openOutside(t, r.Command("attach", s.Name))
	o.see("ready")
	if !wall {
		return o
	}
	for _, k := range []string{"\x11", "V", "V", "V", "\r"} { // by stack and columns
		o.press(k)
		for until := time.Now().Add(400 * time.Millisecond); time.Now().Before(until); {
			o.read(time.Until(until))
		}
	}
	for until := time.Now().Add(e2e.Patience); ; {
		text := o.term.Text()
		if strings.Contains(text, "┼") && strings.Contains(text, "ready") && strings.Contains(text, "ctrl+q back") &&
			(others == "" || strings.Count(text, "beside ") >= 6) { // in the list and in title bars
			return o
		}
		if o.read(100 * time.Millisecond); time.Now().After(until) {
			t.Fatalf("no wall:\n%s", text)
		}
	}
}

// TestMeasurePanes measures a pane in a wall of four beside the same pane alone, in one run: keys to their echo while the
// others are idle, busy, and print as fast as they can; 50 MB through it; and the memory of the screen.
func TestMeasurePanes(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures and takes minutes; `MEASURE=1 go test -v -count=1 -timeout 60m -run TestMeasurePanes ./cmd/orchestrator/e2e/measures` runs it")
	}
	for _, c := range []struct{ name, others string }{
		{"no others", ""}, {"3 busy ones", busyFilled}, {"3 that print as fast as they can", floodProgram},
	} {
		t.Run("echo, "+c.name, func(t *testing.T) {
			var p50, mb [2]float64
			for i, wall := range []bool{false, true} {
				o := openBeside(t, echoProgram, c.others, wall)
				time.Sleep(2 * time.Second)
				o.echo(0x1e00)
				keys := o.echo(0x100)
				mb[i] = float64(e2e.ProcessOf(t, o.cmd.Process.Pid, "status", "VmRSS")) / 1024
				p50[i] = float64(e2e.Percentile(keys, 50).Microseconds()) / 1000
				t.Logf("%s: p50 %v p90 %v p99 %v, %.0f MB", map[bool]string{false: "alone", true: "wall"}[wall],
					e2e.Percentile(keys, 50), e2e.Percentile(keys, 90), e2e.Percentile(keys, 99), mb[i])
				_ = o.cmd.Process.Kill()
			}
			t.Logf("wall to alone: echo %.2f×, memory %.2f×", p50[1]/p50[0], mb[1]/mb[0])
		})
	}
	t.Run("flood", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "flood.txt")
		line := strings.Repeat("lorem ipsum dolor sit amet ", 4) + "\n"
		if err := os.WriteFile(file, bytes.Repeat([]byte(line), floodBytes/len(line)), 0o600); err != nil {
			t.Fatal(err)
		}
		took := map[bool][]time.Duration{}
		for round := range 3 {
			for _, wall := range []bool{false, true} {
				o := openBeside(t, "echo ready; exec sh", busyFilled, wall)
				done := fmt.Sprintf("done-%d-", round+10)
				begin := time.Now()
				o.press(fmt.Sprintf("cat %s; echo done-$((%d))-\r", file, round+10))
				o.see(done)
				took[wall] = append(took[wall], time.Since(begin))
				_ = o.cmd.Process.Kill()
			}
		}
		t.Logf("%d MB, best of 3: alone %v, wall %v, %.2f×", floodBytes>>20, best(took[false]), best(took[true]),
			best(took[true]).Seconds()/best(took[false]).Seconds())
	})
}
