package agenttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/world"
	"orchestrator/thread"
)

// Piped is an agent's process without a terminal, driven by its Dialogue as a session does that.
type Piped struct {
	t      *testing.T
	talk   thread.Dialogue
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	closed bool
	over   bool
	ended  time.Time // when RunEnd was said

	Lines  [][]byte          // that it printed
	Events []thread.RunEvent // so far
	Code   int               // how it exited, after Wait
}

// pipedLimit bounds every wait.
const pipedLimit = 4 * time.Minute

// StartPiped starts a process. It is killed, with its group, when the test ends.
func StartPiped(t *testing.T, h thread.HeadlessLaunch) *Piped {
	t.Helper()
	p := &Piped{t: t, talk: h.Dialogue, lines: make(chan []byte)}
	p.cmd = exec.Command(h.Launch.Path, h.Launch.Args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = h.Launch.Dir, world.Direct(h.Launch.Env), os.Stderr // as a session does
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	go func() {
		defer close(p.lines)
		for r := bufio.NewReaderSize(out, 64<<10); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				p.lines <- []byte(strings.TrimSuffix(string(line), "\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// kill ends the process and what it started in its group, if it is still there.
func (p *Piped) kill() {
	if p.over {
		return
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		p.t.Errorf("kill: %v", err)
	}
	for range p.lines {
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Errorf("wait: %v", err)
	}
}

// Begin asks the prompt.
func (p *Piped) Begin(prompt string) *Piped {
	p.t.Helper()
	p.follow(p.talk.Begin(prompt))
	return p
}

// Interrupt asks it to end its turn, with a signal if nothing is to be written.
func (p *Piped) Interrupt() {
	p.t.Helper()
	s := p.talk.Interrupt()
	p.follow(s)
	if len(s.Write) > 0 {
		return
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM); err != nil {
		p.t.Errorf("interrupt: %v", err)
	}
}

// Answer answers a question by what an answer means, and with words; thread.Dismiss stands for a meaning that it has not.
func (p *Piped) Answer(q thread.Question, means thread.Meaning, text string) error {
	p.t.Helper()
	return p.Choose(q, q.Choice(means), text)
}

// Choose answers a question by one of its choices, or thread.Dismiss, and with words.
func (p *Piped) Choose(q thread.Question, choice int, text string) error {
	p.t.Helper()
	asker, ok := p.talk.(thread.Asker)
	if !ok {
		p.t.Fatal("it asks nobody")
	}
	said, err := asker.Answer(q.ID, choice, text)
	p.follow(said)
	return err
}

// Steer gives it a further prompt.
func (p *Piped) Steer(prompt string) error {
	p.t.Helper()
	steerer, ok := p.talk.(thread.Steerer)
	if !ok {
		p.t.Fatal("it takes no further prompts")
	}
	said, err := steerer.Steer(prompt)
	p.follow(said)
	return err
}

// Asked waits for the n-th question, from 0.
func (p *Piped) Asked(n int) thread.Question {
	p.t.Helper()
	for late := time.After(pipedLimit); ; {
		seen := 0
		for _, e := range p.Events {
			if e.Kind != thread.RunAsks {
				continue
			}
			if seen == n {
				return *e.Question
			}
			seen++
		}
		if !p.next(late) {
			p.t.Fatalf("it ended after %d questions:\n%s", seen, p.Log())
		}
	}
}

// follow does what a step says.
func (p *Piped) follow(s thread.Said) {
	p.t.Helper()
	for _, e := range s.Events {
		if !p.ended.IsZero() {
			p.t.Errorf("%+v after the end", e)
		}
		if e.Kind == thread.RunEnd {
			p.ended = time.Now()
		}
	}
	p.Events = append(p.Events, s.Events...)
	if len(s.Write) > 0 && !p.closed {
		if _, err := p.in.Write(s.Write); err != nil && !errors.Is(err, syscall.EPIPE) {
			p.t.Errorf("write: %v", err)
		}
	}
	if (s.Close || !p.ended.IsZero()) && !p.closed {
		p.closed = true
		if err := p.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // by Wait
			p.t.Errorf("close: %v", err)
		}
	}
}

// next takes one line, and reports whether there was one.
func (p *Piped) next(late <-chan time.Time) bool {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return false
		}
		p.Lines = append(p.Lines, line)
		p.follow(p.talk.Read(line))
		return true
	case <-late:
		p.t.Fatalf("nothing more came in %s; so far\n%s", pipedLimit, p.Log())
		return false
	}
}

// Settle reads until nothing has come for a moment.
func (p *Piped) Settle() {
	p.t.Helper()
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				return
			}
			p.Lines = append(p.Lines, line)
			p.follow(p.talk.Read(line))
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

// Until waits for an event of a kind, and returns it.
func (p *Piped) Until(kind thread.RunEventKind) thread.RunEvent {
	p.t.Helper()
	for late, seen := time.After(pipedLimit), 0; ; {
		for ; seen < len(p.Events); seen++ {
			if p.Events[seen].Kind == kind {
				return p.Events[seen]
			}
		}
		if !p.next(late) {
			p.t.Fatalf("ended without an event %q:\n%s", kind, p.Log())
		}
	}
}

// Wait reads until the process has ended, and returns how the run did. It fails the test if the end was not said once, and
// last.
func (p *Piped) Wait() thread.RunEvent {
	p.t.Helper()
	for late := time.After(pipedLimit); p.next(late); {
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Errorf("wait: %v", err)
	}
	p.over, p.Code = true, p.cmd.ProcessState.ExitCode()
	p.record()
	if p.closed && !p.ended.IsZero() {
		if took := time.Since(p.ended); took > 20*time.Second {
			p.t.Errorf("it went on for %s after its end", took)
		}
	}
	p.follow(p.talk.End(p.Code))
	if len(p.Events) == 0 || p.Events[len(p.Events)-1].Kind != thread.RunEnd {
		p.t.Fatalf("no end:\n%s", p.Log())
	}
	return p.Events[len(p.Events)-1]
}

// RecordVar is the variable with the folder that the lines of runs are written to, for testdata.
const RecordVar = "ORCHESTRATOR_RECORD_RUNS"

// record writes what the process printed, with the folder that holds its own replaced.
func (p *Piped) record() {
	dir := os.Getenv(RecordVar)
	if dir == "" {
		return
	}
	all := strings.ReplaceAll(string(bytes.Join(p.Lines, []byte("\n")))+"\n", filepath.Dir(p.cmd.Dir), "/home/me")
	f, err := os.CreateTemp(dir, strings.NewReplacer("/", "-", "TestRealRuns", "run").Replace(p.t.Name())+"-*.jsonl")
	if err == nil {
		_, err = f.WriteString(all)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		p.t.Errorf("record: %v", err)
	}
}

// Said joins the texts of a kind.
func (p *Piped) Said(kind thread.RunEventKind) string {
	var b strings.Builder
	for _, e := range p.Events {
		if e.Kind == kind {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// Usage is the sum of what was said of it.
func (p *Piped) Usage() (sum thread.Usage) {
	for _, e := range p.Events {
		if e.Usage != nil {
			sum = sum.Add(*e.Usage)
		}
	}
	return sum
}

// Log is what was said so far, for failures.
func (p *Piped) Log() string {
	var b strings.Builder
	for _, e := range p.Events {
		b.WriteString(string(e.Kind) + " " + e.Tool + " " + e.Session + string(e.Outcome) + " " + e.Reason + " " + e.Text + "\n")
		if e.Question != nil {
			fmt.Fprintf(&b, "  %+v\n", *e.Question)
		}
	}
	return b.String()
}
