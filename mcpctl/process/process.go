package process

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	ground "orchestrator/thread/ground/process"
	"orchestrator/thread/ground/rpc"
)

// Spec is a program to start.
type Spec struct {
	Command string // a path, or a name that is looked up in the PATH of Env
	Args    []string
	Env     []string // all of it; only a mark is added
	Dir     string
	Log     *Log // takes what it prints that is no message
}

// Process is a program that was started, with everything that it has started.
type Process struct {
	pid    int // its group's and session's too
	mark   string
	label  ground.Label
	waits  waits
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	stream *rpc.Lines
	read   atomic.Int64
	wrote  atomic.Int64 // to its standard input
	unread int64        // of that, when it ended; valid once done is closed

	mu    sync.Mutex // guards the fields below; held while a signal is sent or the end is collected
	cause string     // of its end, if it is known before
	ended bool       // collected: the pid may be another program's

	exited  chan struct{} // the program itself has ended
	exit    string        // how, valid then
	drained chan struct{} // its output has ended
	done    chan struct{}
}

// waits is how long a program is given to end.
type waits struct {
	afterEOF  time.Duration
	afterTerm time.Duration
}

// drainWait is how long output is waited for after the end of everything that is known to print it.
const drainWait = time.Second

// counted counts what is read, and tells when there will be no more.
type counted struct {
	from  io.Reader
	count *atomic.Int64
	end   func()
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.count.Add(int64(n))
	if err != nil && c.end != nil {
		c.end()
	}
	return n, err
}

// input writes to the standard input of a program and counts.
type input struct {
	to    io.Writer
	count *atomic.Int64
}

func (i input) Write(b []byte) (int, error) {
	n, err := i.to.Write(b)
	i.count.Add(int64(n))
	return n, err
}

// inputEnd closes the standard input of a program whose output goes on. Otherwise the program is ending, and what it has
// not read tells what it does not know of.
type inputEnd struct{ p *Process }

func (e inputEnd) Close() error {
	select {
	case <-e.p.drained:
		return nil
	default:
		return e.p.stdin.Close()
	}
}

// adopt makes a Process of a program that was started, and waits for its end.
func adopt(program *os.Process, mark string, label ground.Label, w waits, stdin, stdout, stderr *os.File, log *Log) *Process {
	p := &Process{
		pid: program.Pid, mark: mark, label: label, waits: w, stdin: stdin, stdout: stdout, stderr: stderr,
		exited: make(chan struct{}), drained: make(chan struct{}), done: make(chan struct{}),
	}
	ended := sync.OnceFunc(func() { close(p.drained) })
	p.stream = rpc.NewLines(counted{stdout, &p.read, ended}, input{stdin, &p.wrote}, inputEnd{p}, log.Add)
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		s := &splitter{log: log}
		_, _ = io.Copy(s, counted{stderr, &p.read, nil}) // it ends with the program
		s.end()
	}()
	go p.finish(program, quiet)
	return p
}

// finish collects the end of the program and ends what it leaves.
func (p *Process) finish(program *os.Process, quiet <-chan struct{}) {
	defer close(p.done)
	collect := sync.OnceValues(program.Wait)
	if !awaitEnd(p.pid) {
		_, _ = collect() // once more below
	}
	p.mu.Lock()
	_ = unix.Kill(-p.pid, unix.SIGKILL) // nobody may be left
	state, err := collect()
	p.ended = true
	p.mu.Unlock()
	p.exit = p.describe(state, err)
	close(p.exited)
	own := markName + "=" + p.mark
	end(nil, func(l ground.Label) bool { return l != 0 && l == p.label }, func(entry string) bool { return entry == own })
	p.unread = unreadOf(p.stdin)
	_ = p.stdin.Close()
	deadline := time.Now().Add(drainWait)
	_ = p.stdout.SetReadDeadline(deadline) // pipes take deadlines
	_ = p.stderr.SetReadDeadline(deadline)
	<-quiet
	select {
	case <-p.drained:
	case <-time.After(drainWait): // nobody reads
	}
	p.stdout.Close()
	p.stderr.Close()
}

func (p *Process) describe(state *os.ProcessState, err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != "" {
		return p.cause
	}
	if err != nil {
		return "ended"
	}
	return state.String()
}

// Stream returns the messages of the program's standard streams. Closing it closes its standard input.
func (p *Process) Stream() rpc.Stream { return p.stream }

// Pending returns the beginning of a line on the standard output that has not ended.
func (p *Process) Pending() []byte { return p.stream.Pending() }

// PID returns the program's process id.
func (p *Process) PID() int { return p.pid }

// Read returns how many bytes the program has printed: whether it is silent.
func (p *Process) Read() int64 { return p.read.Load() }

// Wrote returns how many bytes have been written to the program's standard input.
func (p *Process) Wrote() int64 { return p.wrote.Load() }

// Took returns how many of these bytes somebody may have read, once Done is closed.
func (p *Process) Took() int64 {
	<-p.done
	return p.wrote.Load() - p.unread
}

// Exited is closed when the program itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit returns how the program ended, once Exited is closed.
func (p *Process) Exit() string {
	<-p.exited
	return p.exit
}

// Done is closed when nothing of the program is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop lets the program end by itself, tells it to, and kills it, whichever it takes, and returns when nothing is left.
func (p *Process) Stop() {
	_ = p.stdin.Close()
	if p.endsWithin(p.waits.afterEOF) {
		return
	}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT)
	if p.endsWithin(p.waits.afterTerm) {
		return
	}
	p.Kill()
}

// Kill kills the program with its group and returns when nothing is left.
func (p *Process) Kill() {
	p.signal(unix.SIGKILL)
	<-p.done
}

// endFor kills the program for a reason. It does not wait.
func (p *Process) endFor(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.cause != "" {
		return
	}
	p.cause = cause
	_ = unix.Kill(-p.pid, unix.SIGKILL)
}

// endsWithin reports whether the program ends in time; then it returns when nothing is left.
func (p *Process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		<-p.done
		return true
	case <-timer.C:
		return false
	}
}

func (p *Process) signal(sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = unix.Kill(-p.pid, sig) // it may already have ended
	}
}
