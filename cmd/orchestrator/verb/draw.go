package verb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// draw runs a model in a terminal until it ends, and always restores the terminal. A panic in the model or in one of
// its commands ends it like any other error: the caller reports it once the terminal is restored, rather than Bubble
// Tea, which would print it unsanitised.
func draw(ctx context.Context, model tea.Model, out *os.File, options ...tea.ProgramOption) error {
	before, err := term.GetState(out.Fd())
	if err != nil {
		return fmt.Errorf("get the terminal state: %w", err)
	}
	guarded := &guarded{model: model}
	program := guarded.program(append(options, tea.WithoutSignalHandler())...)
	ctx, stop := whileDrawn(ctx)
	defer func() {
		if ctx.Err() == nil { // otherwise the process ends, and a second signal must not end it sooner
			stop()
		}
	}()
	ended := make(chan struct{})
	go leave(ctx, program, ended)
	err = guarded.run(program)
	close(ended)
	err = errors.Join(guarded.err(), err)
	if rerr := term.Restore(out.Fd(), before); rerr != nil {
		err = errors.Join(err, fmt.Errorf("restore the terminal: %w", rerr))
	}
	if killed := errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic); err != nil && !killed {
		return fmt.Errorf("draw the screen: %w", err)
	}
	return nil
}

// whileDrawn returns a context that also ends by the signals that would otherwise end the process with the terminal as it
// is. All signals have one owner, this context: a second one would wait for a program that has ended.
func whileDrawn(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// leaveLimit is how long a program may take to end by itself.
const leaveLimit = 2 * time.Second

// leave ends a program when ctx does, and kills it if it does not end: both restore the terminal.
func leave(ctx context.Context, program *tea.Program, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-ended:
		return
	}
	go program.Quit() // waits while the program is busy
	late := time.NewTimer(leaveLimit)
	defer late.Stop()
	select {
	case <-late.C:
		program.Kill()
	case <-ended:
	}
}

// guarded is a model whose panics end the program.
type guarded struct {
	model tea.Model
	quit  func()
	rest  rest
	last  tea.View
	again bool // the next view is the last one once more

	// mu guards first: commands run concurrently with the model.
	mu    sync.Mutex
	first error // the first panic
}

// program returns a program of the model, whose renderer rests while nothing happens.
func (g *guarded) program(options ...tea.ProgramOption) *tea.Program {
	p := tea.NewProgram(g, append(options, tea.WithFPS(frameRate))...)
	g.quit = p.Quit
	g.rest.attend(p, func() { p.Send(settledMsg{}) })
	return p
}

// run runs the program of the model.
func (g *guarded) run(p *tea.Program) error {
	defer g.rest.end()
	_, err := p.Run()
	return err
}

// settledMsg tells nothing but that all messages before it have been handled, and their views are with the renderer.
type settledMsg struct{}

// Init implements tea.Model.
func (g *guarded) Init() (cmd tea.Cmd) {
	defer g.guard()
	return g.command(g.model.Init())
}

// Update implements tea.Model.
func (g *guarded) Update(msg tea.Msg) (self tea.Model, cmd tea.Cmd) {
	self = g // also after a panic
	defer g.guard()
	if _, ok := msg.(settledMsg); ok {
		g.again = true
		g.rest.settled()
		return self, nil
	}
	g.model, cmd = g.model.Update(msg)
	return self, g.command(cmd)
}

// View implements tea.Model.
func (g *guarded) View() (v tea.View) {
	if g.again {
		g.again = false
		return g.last
	}
	defer func() {
		g.last = v
		g.rest.awake()
	}()
	defer g.guard()
	return g.model.View()
}

// command guards a command and the commands that it returns.
func (g *guarded) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.guard()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.command(batch[i])
			}
		}
		return msg
	}
}

// guard recovers the panic of the function that defers it.
func (g *guarded) guard() {
	p := recover()
	if p == nil {
		return
	}
	g.mu.Lock()
	if g.first == nil {
		g.first = fmt.Errorf("this is a bug in orchestrator: %v\n%s", p, debug.Stack())
	}
	g.mu.Unlock()
	go g.quit() // quit waits for the program, which may be waiting for us
}

func (g *guarded) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first
}
