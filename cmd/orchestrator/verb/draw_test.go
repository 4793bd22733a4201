package verb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"orchestrator/agent/vterm"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/api"
)

// drawVariable has the test's own binary draw a model that panics.
const drawVariable = "ORCHESTRATOR_TEST_DRAW"

// frail panics where it is told to, at a key.
type frail struct {
	how    string
	broken bool
}

func (f *frail) Init() tea.Cmd { return nil }

func (f *frail) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyPressMsg); !ok {
		return f, nil
	}
	f.broken = true
	switch f.how {
	case "update":
		panic(e2e.Hostile)
	case "command":
		return f, func() tea.Msg { panic(e2e.Hostile) }
	case "batch":
		return f, tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic(e2e.Hostile) })
	}
	return f, nil
}

func (f *frail) View() tea.View {
	if f.broken && f.how == "view" {
		panic(e2e.Hostile)
	}
	v := tea.NewView("drawn")
	v.AltScreen, v.MouseMode, v.ReportFocus = true, tea.MouseModeAllMotion, true
	v.KeyboardEnhancements.ReportEventTypes = true
	return v
}

func drawAndPanic(how string) int {
	o := newOutput(os.Stdout, os.Stderr)
	defer o.close()
	out, _ := o.terminal()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := draw(ctx, &frail{how: how}, out, tea.WithInput(os.Stdin), tea.WithOutput(out)); err != nil {
		fmt.Fprintln(o.stderr, err)
		return exitcode.Error
	}
	return exitcode.OK
}

// TestPanicLeavesTheTerminalAsItWas: modes, screen and cursor are set back, and what the panic says is cleaned.
func TestPanicLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"update", "view", "command", "batch"} {
		t.Run(how, func(t *testing.T) {
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer slave.Close() // kept open, so that the modes can be read after the end
			if err := pty.Setsize(master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
				t.Fatal(err)
			}
			before, err := term.GetState(slave.Fd())
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), drawVariable+"="+how, "TERM=xterm-256color")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			read := make(chan struct{})
			go func() {
				defer close(read)
				buf, pressed := make([]byte, 4096), false
				for {
					n, err := master.Read(buf)
					out.Write(buf[:n])
					if err != nil {
						return // EIO when nobody has the terminal
					}
					if !pressed && strings.Contains(out.String(), "drawn") {
						_, err = master.WriteString("x")
						pressed = err == nil
					}
				}
			}()
			_ = cmd.Wait() // its exit code is looked at below
			after, err := term.GetState(slave.Fd())
			if err != nil {
				t.Fatal(err)
			}
			slave.Close()
			<-read
			if !reflect.DeepEqual(before, after) {
				t.Errorf("the terminal's modes were %+v, are %+v", before, after)
			}
			said := out.String()
			end := strings.LastIndex(said, "\x1b[?1049l")
			if code := cmd.ProcessState.ExitCode(); code != exitcode.Error || end < 0 || strings.LastIndex(said, "\x1b[?1049h") > end ||
				strings.LastIndex(said, "\x1b[?1003h") > strings.LastIndex(said, "\x1b[?1003l") || strings.LastIndex(said, "\x1b[?25l") > strings.LastIndex(said, "\x1b[?25h") {
				t.Errorf("exit %d, printed %q", code, said)
			}
			bug := strings.Index(said, "this is a bug")
			if bug < end || e2e.Harms(out.Bytes()[max(bug, 0):]) != "" {
				t.Errorf("the panic is told as %q", said[max(bug, 0):])
			}
			if strings.Contains(said, "\x1b]52") {
				t.Error("the panic's words reached the terminal")
			}
		})
	}
}

// TestSignalsLeaveTheTerminalAsItWas: whichever signal ends the screen, also twice at once, it ends, and all modes are
// set back.
func TestSignalsLeaveTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			if sig == syscall.SIGHUP && signal.Ignored(sig) {
				t.Skip("SKIPPED: this runs below nohup, where a hangup ends nothing; without it the test runs")
			}
			for round := range e2e.SignalRounds() {
				signalled(t, self, sig, round%2 == 1)
			}
		})
	}
}

func signalled(t *testing.T, self string, sig syscall.Signal, twice bool) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), drawVariable+"=signal", "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(e2e.Patience, func() { _ = cmd.Process.Kill() })
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf, sent := make([]byte, 4096), false
		for {
			n, err := master.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				return // EIO when nobody has the terminal
			}
			if !sent && strings.Contains(out.String(), "drawn") {
				sent = true
				_ = cmd.Process.Signal(sig)
				if twice {
					_ = cmd.Process.Signal(sig)
				}
			}
		}
	}()
	_ = cmd.Wait() // its exit code is looked at below
	if !hung.Stop() {
		t.Errorf("%s: it hangs", sig)
	}
	after, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	slave.Close()
	<-read
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s: the terminal's modes were %+v, are %+v", sig, before, after)
	}
	said := out.String()
	for _, mode := range []string{"1049", "2004", "1004", "1003", "1006"} {
		if on, off := strings.LastIndex(said, "\x1b[?"+mode+"h"), strings.LastIndex(said, "\x1b[?"+mode+"l"); on < 0 || off < on {
			t.Errorf("%s: mode %s stays: %q", sig, mode, said)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != exitcode.OK || strings.Contains(said, "goroutine ") {
		t.Errorf("%s: exit %d, printed %q", sig, code, said)
	}
}

// memory is the most that a process had, in MB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("SKIPPED: the memory of a process: %v", err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}

// TestSizesThatNoTerminalHas are told by the person's terminal and by clients: screen and server go on.
func TestSizesThatNoTerminalHas(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("large")
	s := r.Open(100, 30, "attach", name)
	s.See("demo agent")
	for _, size := range []pty.Winsize{{Cols: 65535, Rows: 65535}, {Cols: 65535, Rows: 1}, {Cols: 1, Rows: 65535}, {}, {Cols: 100, Rows: 30}} {
		if err := pty.Setsize(s.Tty, &size); err != nil {
			t.Fatal(err)
		}
		if size.Cols == 65535 && size.Rows == 65535 { // it has been drawn that large
			e2e.Await(t, "the agent's terminal to grow", func() bool { return terminalSize(r, name) > 200 })
		}
	}
	s.Press("\x11")
	s.See("n new")
	if mb := memory(t, s.Cmd.Process.Pid); mb > 1000 {
		t.Errorf("the screen took %d MB", mb)
	}
	s.Press("q")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("the screen ended with %d", code)
	}
	cl := client.New(r.Claimed().Socket)
	defer cl.Close()
	id := r.Status(name).ID
	for _, size := range [][2]int{{65535, 65535}, {1 << 31, 1 << 31}, {0, 0}, {-1, -65535}, {1, 1}, {-1 << 62, 1 << 62}} {
		view, err := cl.Attach(t.Context(), id, size[0], size[1])
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		for range 20 {
			if err := view.Resize(t.Context(), api.Size{Cols: size[0], Rows: size[1]}); err != nil {
				t.Fatalf("%v: %v", size, err)
			}
		}
		if size[0] > vterm.MaxCols {
			e2e.Await(t, "the agent's terminal to take the size", func() bool { return terminalSize(r, name) >= vterm.MaxCols })
		}
		if err := view.Close(); err != nil {
			t.Error(err)
		}
		r.Ok("stop", name)
		if _, err := api.Resume.Do(t.Context(), cl, api.ResumeRequest{Thread: string(id), Cols: size[0], Rows: size[1]}); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		terminalSize(r, name)
	}
	r.Turn(name, "list files")
	if mb := memory(t, r.ServerPID()); mb > 500 {
		t.Errorf("the server took %d MB", mb)
	}
}

// terminalSize is how wide the terminal of a thread's agent is.
func terminalSize(r *e2e.Rig, name string) int {
	r.T.Helper()
	pid := r.Status(name).Execution.PID
	tty, err := os.Open(fmt.Sprintf("/proc/%d/fd/0", pid))
	if err != nil {
		r.T.Fatal(err)
	}
	defer tty.Close()
	cols, rows, err := term.GetSize(tty.Fd())
	if err != nil || cols > vterm.MaxCols || rows > vterm.MaxRows {
		r.T.Errorf("the agent's terminal is %d×%d, %v", cols, rows, err)
	}
	return cols
}

// TestScreenRefusesToStartTooLarge, before anything is drawn.
func TestScreenRefusesToStartTooLarge(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	s := r.Open(65535, 65535)
	if code := s.End(); code != exitcode.Error || !strings.Contains(s.Text(), "65535×65535") || !strings.Contains(s.Text(), "stty cols") {
		t.Errorf("exit %d:\n%.500s", code, s.Text())
	}
}
