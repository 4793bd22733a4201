package pty

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

const (
	// readSize is the most that one read takes; Linux gives at most 4 KB of a pty at a time.
	readSize = 8 << 10
	// maxPending is how much input a program may leave unread before writes are refused.
	maxPending = 1 << 20
	// drainTime is how long the output of an ended program is awaited while something that it left
	// behind keeps its terminal open.
	drainTime = 300 * time.Millisecond
	// maxLate is how much is read after that: what it left behind may print for ever.
	maxLate = 1 << 20
	// strayGrace is what those that outlive an exit get between SIGTERM and SIGKILL.
	strayGrace = time.Second
	// killWait is how long ends are awaited after SIGKILL: a process in the kernel's D state ends later.
	killWait = 5 * time.Second
)

// ErrClogged is returned when a program does not read what it is sent.
var ErrClogged = errors.New("program does not read its input")

// Spec is a program to start.
type Spec struct {
	Path string
	Args []string // without the program itself
	Env  []string
	Dir  string
	// Owner is an entry KEY=VALUE of Env that tells whose the process is; Sweep finds by it what a Host that
	// was killed left behind.
	Owner      string
	Cols, Rows int
	// Output gets all that the program prints, in order, on one goroutine. It may keep the bytes no
	// longer than the call. While it runs nothing more is read.
	Output func([]byte)
	// Turn, if set, waits for this process's turn to be read and returns what ends it. A turn takes one
	// read and its Output. Who limits turns limits the processors and OS threads that many take.
	Turn func() (end func())
	// Exited is called once, after the last Output, when the program itself has ended; what it left
	// behind may still run until Done.
	Exited func(code int)
}

// Process is a running program.
type Process struct {
	host   *Host
	pid    int
	token  string // in its environment, nobody else's
	label  uint64 // handed down by the kernel
	spec   Spec
	master *os.File

	code    int           // valid once ended is closed
	ended   chan struct{} // the program itself ended
	drained chan struct{} // its output ended
	done    chan struct{} // nothing is left

	// stopMu guards seen and serialises the killing of what is left. It is held while waiting and
	// taken first.
	stopMu sync.Mutex
	seen   map[int]uint64 // processes known to belong to it: pid to start
	// wmu guards pending, sending, writing and closed. No lock is taken under it.
	wmu     sync.Mutex
	pending []byte
	sending int  // bytes taken out of pending that the terminal may not have taken yet
	writing bool // a goroutine writes pending
	closed  bool
}

// Start runs a program.
func (h *Host) Start(spec Spec) (*Process, error) {
	master, slave, err := openTerminal(spec.Cols, spec.Rows)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	defer slave.Close()
	token := thread.NewID[string]() + thread.NewID[string]() // 128 bits
	p := &Process{
		host: h, token: token, label: newLabel(cmp.Or(spec.Owner, token)), spec: spec, master: master, seen: make(map[int]uint64),
		ended: make(chan struct{}), drained: make(chan struct{}), done: make(chan struct{}),
	}
	env := append(Unmarked(spec.Env), tokenName+"="+p.token)
	attr := &os.ProcAttr{
		Dir: spec.Dir, Env: env, Files: []*os.File{slave, slave, slave},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}
	h.mu.Lock() // so that its end is not collected before it is known
	proc, err := startLabelled(spec.Path, append([]string{spec.Path}, spec.Args...), attr, p.label)
	if err != nil {
		h.mu.Unlock()
		_ = master.Close() // nothing was started on it
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	p.pid = proc.Pid
	_ = proc.Release() // the Host waits for it; the handle would keep a descriptor
	h.running[p.pid] = p
	h.mu.Unlock()
	go p.read()
	go p.finish()
	return p, nil
}

// openTerminal returns both ends of a new pty. The master is in non-blocking mode, so that reads are
// served by the poller instead of a thread each.
func openTerminal(cols, rows int) (master, slave *os.File, err error) {
	m, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	fd, err := dupNonblock(m)
	if err != nil {
		_ = slave.Close() // the error that counts is err
		return nil, nil, err
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	if err := setSize(master, cols, rows); err != nil {
		_ = slave.Close() // the error that counts is err
		_ = master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

// dupNonblock returns a non-blocking, close-on-exec duplicate of a descriptor.
func dupNonblock(f *os.File) (fd int, err error) {
	err = control(f, func(old uintptr) error {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.SetNonblock(fd, true)
	})
	return fd, err
}

// setSize tells the terminal's size; the foreground group gets SIGWINCH when it changed.
func setSize(f *os.File, cols, rows int) error {
	ws := &unix.Winsize{Col: clampSize(cols), Row: clampSize(rows)}
	return control(f, func(fd uintptr) error { return unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, ws) })
}

func clampSize(n int) uint16 { return uint16(min(max(n, 1), 10_000)) }

// control runs a function on a file's descriptor without taking it out of the poller, as Fd would.
func control(f *os.File, do func(uintptr) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}

// Token returns the secret that stands in the environment of the program and of what it starts.
func (p *Process) Token() string { return p.token }

// PID returns the program's process id, which is its group's and session's too.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program has ended and nothing of it is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Resize sets the terminal's size.
func (p *Process) Resize(cols, rows int) error {
	if err := setSize(p.master, cols, rows); err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// read passes the output on until the terminal is closed by all who hold it, or by finish.
func (p *Process) read() {
	defer close(p.drained)
	raw, err := p.master.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, readSize)
	for p.readOnce(raw, buf) {
	}
	// finish may have ended the waiting on a busy machine while there is still something to read.
	for read := 0; read < maxLate; {
		n := 0
		if err := raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf) }); err != nil || n <= 0 {
			return
		}
		p.spec.Output(buf[:n])
		read += n
	}
}

// readOnce waits for output and handles it; false when there will be no more.
func (p *Process) readOnce(raw syscall.RawConn, buf []byte) bool {
	n := 0
	var failed error
	end := func() {}
	err := raw.Read(func(fd uintptr) bool {
		if p.spec.Turn != nil {
			end = p.spec.Turn()
		}
		for {
			n, failed = unix.Read(int(fd), buf)
			switch {
			case errors.Is(failed, unix.EINTR):
				continue
			case errors.Is(failed, unix.EAGAIN):
				end()
				end = func() {}
				return false // until there is something
			}
			return true
		}
	})
	defer func() { end() }()
	if err != nil || failed != nil || n <= 0 { // EIO when nobody holds the other end
		return false
	}
	p.spec.Output(buf[:n])
	return true
}

// leaderEnded is called by the Host, once.
func (p *Process) leaderEnded(code int) {
	p.code = code
	close(p.ended)
}

// finish sees the process off: output, exit, what is left behind, descriptors.
func (p *Process) finish() {
	<-p.ended
	timer := time.NewTimer(drainTime)
	select {
	case <-p.drained:
	case <-timer.C: // something it started holds the terminal
		_ = p.master.SetReadDeadline(time.Now()) // a pty takes deadlines; if not, Close ends the read
	}
	timer.Stop()
	p.wmu.Lock()
	p.closed, p.pending = true, nil
	p.wmu.Unlock()
	_ = p.master.Close() // hangs up on whoever is left; nothing is to be flushed
	<-p.drained
	if p.spec.Exited != nil {
		p.spec.Exited(p.code)
	}
	p.clear(strayGrace)
	close(p.done)
}

// Stop asks the program's group to end, makes it after the grace or when ctx ends, and returns when
// nothing is left.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.look() // while ancestry still tells what belongs to it
	timer := time.NewTimer(grace)
	defer timer.Stop()
	p.signalGroup(unix.SIGTERM)
	p.signalGroup(unix.SIGCONT) // a stopped group takes no SIGTERM
	select {
	case <-p.ended:
	case <-timer.C:
		p.clear(0)
	case <-ctx.Done():
		p.clear(0)
	}
	end := time.NewTimer(killWait + strayGrace + drainTime)
	defer end.Stop()
	select {
	case <-p.done:
		return nil
	case <-end.C:
		return fmt.Errorf("stop process %d: it does not end on SIGKILL", p.pid)
	}
}

// signalGroup signals the program's group while the program is known to run.
func (p *Process) signalGroup(sig unix.Signal) {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	if p.host.running[p.pid] == p {
		_ = unix.Kill(-p.pid, sig) // gone already is as good
	}
}

// look notes what belongs to the process.
func (p *Process) look() {
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	p.remains(p.seen)
}

// clear ends all that belongs to the process: SIGTERM, the grace, SIGKILL until nothing is found.
func (p *Process) clear(grace time.Duration) {
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	begin := time.Now()
	wait := time.Millisecond
	asked, killed := make(map[proc]bool), make(map[proc]bool)
	for {
		if grace == 0 {
			p.signalGroup(unix.SIGKILL)
		}
		left := p.remains(p.seen)
		if len(left) == 0 || time.Since(begin) > grace+killWait {
			return
		}
		var dead []int
		grows := false
		for _, q := range left {
			key := proc{pid: q.pid, start: q.start}
			switch {
			case q.ended:
				dead = append(dead, q.pid)
			case time.Since(begin) >= grace:
				_ = unix.Kill(q.pid, unix.SIGKILL) // gone already is as good
				grows = grows || !killed[key]
				killed[key] = true
			case !asked[key]:
				asked[key] = true
				_ = unix.Kill(q.pid, unix.SIGTERM)
				_ = unix.Kill(q.pid, unix.SIGCONT)
			}
		}
		p.host.reapNow(dead)
		if grows {
			continue // what has just been started would start more while we wait
		}
		time.Sleep(wait) // there is no event for the end of a process that is nobody's child here
		wait = min(2*wait, 50*time.Millisecond)
	}
}

// Write sends input. It does not wait: what the program does not take now is kept, up to a bound,
// and sent in order as it reads.
func (p *Process) Write(b []byte) error {
	p.wmu.Lock()
	defer p.wmu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("write to terminal: %w", thread.ErrNotRunning)
	case p.sending+len(p.pending)+len(b) > maxPending:
		return fmt.Errorf("write to terminal: %w", ErrClogged)
	case p.writing:
		p.pending = append(p.pending, b...)
		return nil
	}
	n, err := tryWrite(p.master, b)
	if err != nil {
		return fmt.Errorf("write to terminal: %w", err)
	}
	if n < len(b) {
		p.pending = append(p.pending, b[n:]...)
		p.writing = true
		go p.writeOn()
	}
	return nil
}

// writeOn sends what is pending and ends.
func (p *Process) writeOn() {
	for {
		p.wmu.Lock()
		b := p.pending
		p.pending, p.sending = nil, len(b)
		if len(b) == 0 || p.closed {
			p.writing = false
			p.wmu.Unlock()
			return
		}
		p.wmu.Unlock()
		if _, err := p.master.Write(b); err != nil {
			p.wmu.Lock()
			p.writing, p.pending, p.sending = false, nil, 0 // the terminal is gone
			p.wmu.Unlock()
			return
		}
	}
}

// tryWrite writes what the terminal takes now.
func tryWrite(f *os.File, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var inner error
	err = raw.Write(func(fd uintptr) bool {
		for n < len(b) {
			m, err := unix.Write(int(fd), b[n:])
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN):
				return true
			case err != nil:
				inner = err
				return true
			case m == 0:
				inner = io.ErrShortWrite
				return true
			}
			n += m
		}
		return true
	})
	if err != nil {
		return n, err
	}
	return n, inner
}
