package measures

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

const (
	floodBytes = 50 << 20
	echoKeys   = 170
	busyPanes  = 100
)

// busyProgram prints 2 KB ten times a second.
const busyProgram = `$| = 1; while (1) { print join "", map { "\e[3" . ($i++ % 8) . "m" . ("busy with something " x 6) . "\n" } 1 .. 16; select(undef, undef, undef, 0.1) }`

// outside is a terminal of 200×50 as a person has it: it runs a program, reads all it writes, and knows
// when something has come.
type outside struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	term *vterm.Terminal
	// chunks is what was read.
	chunks chan []byte
}

func openOutside(t *testing.T, cmd *exec.Cmd) *outside {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	o := &outside{t: t, tty: tty, cmd: cmd, chunks: make(chan []byte, 64)}
	o.term = vterm.New(200, 50, vterm.Options{Reply: func(b []byte) { _, _ = tty.Write(b) }})
	ended := make(chan struct{})
	go func() {
		defer close(o.chunks)
		buf := make([]byte, 1<<17)
		for {
			n, err := tty.Read(buf)
			select {
			case o.chunks <- bytes.Clone(buf[:n]):
			case <-ended:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(ended)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tty.Close()
	})
	return o
}

// read takes what comes next; false after a wait in vain.
func (o *outside) read(wait time.Duration) ([]byte, bool) {
	select {
	case b, ok := <-o.chunks:
		_, _ = o.term.Write(b)
		return b, ok
	case <-time.After(wait):
		return nil, false
	}
}

// see reads until the screen shows a text.
func (o *outside) see(text string) {
	o.t.Helper()
	deadline := time.Now().Add(e2e.Patience)
	for !strings.Contains(o.term.Text(), text) {
		if time.Now().After(deadline) {
			o.t.Fatalf("the screen never showed %q:\n%s", text, o.term.Text())
		}
		o.read(50 * time.Millisecond)
	}
}

// settle reads until nothing comes for a while.
func (o *outside) settle(still time.Duration) {
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		if _, more := o.read(still); !more {
			return
		}
	}
}

func (o *outside) press(keys string) {
	o.t.Helper()
	if _, err := o.tty.WriteString(keys); err != nil {
		o.t.Fatal(err)
	}
}

// flood has a shell print a file and takes the time until what it prints after that is seen.
func (o *outside) flood(file string, round int) time.Duration {
	o.t.Helper()
	o.settle(300 * time.Millisecond)
	done := fmt.Sprintf("done-%d-", round)
	begin := time.Now()
	o.press(fmt.Sprintf("cat %s; echo done-$((%d))-\r", file, round))
	o.see(done)
	return time.Since(begin)
}

// echo presses keys that were never on the screen before, one after another, and takes the time until each is
// read back.
func (o *outside) echo(from rune) []time.Duration {
	o.t.Helper()
	var times []time.Duration
	for i := range rune(echoKeys) {
		for next := time.Now().Add(20 * time.Millisecond); time.Now().Before(next); { // between two keys, as a person would wait
			o.read(time.Until(next))
		}
		key := string(from + i)
		begin := time.Now()
		o.press(key)
		var came []byte
		for deadline := begin.Add(e2e.Patience); !bytes.Contains(came, []byte(key)); {
			b, _ := o.read(time.Second)
			came = append(came, b...)
			if time.Now().After(deadline) {
				o.t.Fatalf("%s never came back:\n%s", key, o.term.Text())
			}
		}
		times = append(times, time.Since(begin))
		if i%60 == 59 {
			o.press("\r\n")
		}
	}
	return times
}

// TestMeasureTerminal measures a pane of the whole program beside one of tmux: 50 MB through it, and keys to
// their echo, alone and among a hundred busy ones.
func TestMeasureTerminal(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures and takes minutes; `MEASURE=1 go test -v -count=1 -timeout 60m -run TestMeasureTerminal ./cmd/orchestrator/e2e/measures` runs it")
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux, the measure, is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "flood.txt")
	line := strings.Repeat("lorem ipsum dolor sit amet ", 4) + "\n"
	if err := os.WriteFile(file, bytes.Repeat([]byte(line), floodBytes/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("flood", func(t *testing.T) {
		var ours, theirs []time.Duration
		for round := range 3 {
			theirs = append(theirs, floodTmux(t, tmux, file, round))
			ours = append(ours, floodOurs(t, file, round))
		}
		t.Logf("%d MB through a pane, best of 3: orchestrator %v, tmux %v, %.2f×", floodBytes>>20, best(ours), best(theirs),
			best(ours).Seconds()/best(theirs).Seconds())
	})
	for _, busy := range []int{0, busyPanes} {
		t.Run(fmt.Sprintf("echo among %d busy panes", busy), func(t *testing.T) {
			report := func(name string, keys []time.Duration) {
				t.Logf("%s: p50 %v p90 %v p99 %v", name, e2e.Percentile(keys, 50), e2e.Percentile(keys, 90), e2e.Percentile(keys, 99))
			}
			t.Run("tmux", func(t *testing.T) { report("tmux", echoTmux(t, tmux, busy)) })
			t.Run("orchestrator", func(t *testing.T) { report("orchestrator", echoOurs(t, busy)) })
		})
	}
}

func best(times []time.Duration) time.Duration { return e2e.Percentile(times, 0) }

func openTmux(t *testing.T, tmux, program string, busy int) *outside {
	t.Helper()
	dir := t.TempDir()
	call := func(args ...string) *exec.Cmd {
		cmd := exec.Command(tmux, append([]string{"-u", "-f", "/dev/null", "-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "PS1=$ "}
		return cmd
	}
	must := func(args ...string) {
		if out, err := call(args...).CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
	}
	must("new-session", "-d", "-x", "200", "-y", "50", program)
	t.Cleanup(func() { _ = call("kill-server").Run() })
	must("set", "-g", "history-limit", "10000")
	must("set", "-s", "escape-time", "0")
	for range busy {
		must("new-window", "-d", "perl", "-e", busyProgram)
	}
	return openOutside(t, call("attach"))
}

func openOurs(t *testing.T, program string, busy int) *outside {
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
	for n := range busy {
		begin(fmt.Sprintf("busy %d", n), "perl", "-e", busyProgram)
	}
	s := begin("measured", "sh", "-c", program)
	o := openOutside(t, r.Command("attach", s.Name))
	return o
}

func floodTmux(t *testing.T, tmux, file string, round int) time.Duration {
	o := openTmux(t, tmux, "exec sh", 0)
	o.see("$")
	return o.flood(file, round+10)
}

func floodOurs(t *testing.T, file string, round int) time.Duration {
	o := openOurs(t, "exec sh", 0)
	o.see("$ ")
	return o.flood(file, round+10)
}

const echoProgram = "stty raw -echo; echo ready; exec cat"

func echoTmux(t *testing.T, tmux string, busy int) []time.Duration {
	o := openTmux(t, tmux, echoProgram, busy)
	o.see("ready")
	return o.keysAfter(busy)
}

func echoOurs(t *testing.T, busy int) []time.Duration {
	o := openOurs(t, echoProgram, busy)
	o.see("ready")
	return o.keysAfter(busy)
}

// keysAfter lets everything come to rest, warms up and measures.
func (o *outside) keysAfter(busy int) []time.Duration {
	if busy > 0 {
		time.Sleep(3 * time.Second) // what a hundred programs need to start
	}
	o.settle(500 * time.Millisecond)
	o.echo(0x1e00)
	return o.echo(0x100)
}
