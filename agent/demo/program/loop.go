package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/clipperhouse/displaywidth"
)

const (
	spin     = 150 * time.Millisecond
	repeated = 20 // lines of a resumed conversation that are shown
)

var frames = []string{"◐", "◓", "◑", "◒"}

// loop owns the terminal: only it draws and handles keys.
type loop struct {
	talk   *talk
	screen *screen
	stdin  *os.File
	stdout *os.File
	first  string // prompt to begin with
	label  string // for the title: the first prompt
	events chan any
	keys   chan []byte

	edit    editor
	out     output
	queue   []string
	cancel  context.CancelFunc
	since   time.Time
	frame   int
	dialog  *dialog
	leaving bool // ctrl-c was pressed once
	greeted bool // nothing but the greeting was printed
	tokens  int64
}

func newLoop(t *talk, o options, stdin, stdout *os.File) *loop {
	s := &screen{w: stdout, cols: width(stdout), color: o.color}
	l := &loop{
		talk: t, stdin: stdin, stdout: stdout, first: o.prompt, screen: s, out: output{screen: s},
		events: make(chan any, 64), keys: make(chan []byte), tokens: t.tokens,
	}
	t.tell = func(e any) { l.events <- e }
	t.client.wait = func(why string) { l.events <- noted{why} }
	return l
}

// run draws and handles events until the person leaves or the terminal is gone.
func (l *loop) run() error {
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	defer signal.Stop(winch)
	go l.read()
	fmt.Fprint(l.stdout, "\x1b[?2004h")
	defer fmt.Fprint(l.stdout, "\x1b[?2004l")
	l.greet()
	if l.first != "" {
		l.submit(l.first)
	}
	tick := time.NewTicker(spin)
	defer tick.Stop()
	tick.Stop() // nothing is animated while no turn runs
	turning := false
	var parse parser
	for {
		select {
		case b, ok := <-l.keys:
			if !ok {
				return nil
			}
			for _, k := range parse.parse(b) {
				if l.key(k) {
					l.leave()
					return nil
				}
			}
			l.paint(nil)
		case e := <-l.events:
			l.handle(e)
		case <-winch:
			was := l.screen.cols
			l.screen.cols = width(l.stdout)
			switch { // a terminal gets its size when somebody looks at it
			case l.greeted:
				l.screen.clear()
				l.greet()
			case l.screen.cols != was:
				l.paint(l.screen.again())
			default:
				l.paint(nil)
			}
		case <-tick.C:
			l.frame++
			l.paint(nil)
		}
		switch turn := l.cancel != nil && l.dialog == nil; {
		case turn && !turning:
			tick.Reset(spin)
			turning = true
		case !turn && turning:
			tick.Stop()
			turning = false
		}
	}
}

// leave ends a running turn and moves the cursor below everything.
func (l *loop) leave() {
	if l.cancel != nil {
		l.cancel()
	}
	l.screen.draw(nil, []line{{style: styleDim, text: "Session " + l.talk.client.session}}, 0, 0)
	fmt.Fprint(l.stdout, "\r\n")
	l.screen.status("clear", "", "")
}

// read passes on what is typed; it ends when the terminal is closed.
func (l *loop) read() {
	defer close(l.keys)
	for {
		buf := make([]byte, 4096)
		n, err := l.stdin.Read(buf)
		if n > 0 {
			l.keys <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

func (l *loop) greet() {
	above := []line{{style: styleAccent, text: "◆ demo agent"}}
	for _, text := range []string{
		"a scripted model with real tools: type hello", l.screen.clippedLeft(tilde(plain(l.talk.folder.dir)), 3),
	} {
		above = append(above, l.screen.wrapped(styleDim, "  ", "  ", text)...)
	}
	above = append(above, line{})
	if n := len(l.talk.messages); n > 0 {
		resuming := fmt.Sprintf("resuming session %s with %d messages", l.talk.client.session, n)
		above = append(above, l.screen.wrapped(styleDim, "  ", "  ", resuming)...)
		for _, r := range l.talk.retell(repeated) {
			above = append(above, l.screen.wrapped(r.style, "", "  ", r.text)...)
		}
		above = append(above, line{})
	}
	l.rest("idle", "")
	l.paint(above)
	l.greeted = true
}

// working reports to the terminal that a turn is running.
func (l *loop) working() {
	l.screen.title("◐ demo" + l.about())
	l.screen.status("working", "", "")
}

// rest reports to the terminal that no turn is running.
func (l *loop) rest(state, message string) {
	l.screen.title("◇ demo" + l.about())
	l.screen.status(state, "", message)
}

func (l *loop) about() string {
	if l.label == "" {
		return ""
	}
	return ": " + displaywidth.TruncateString(l.label, 40, "…")
}

// submit begins a turn, or queues the prompt after the running one.
func (l *loop) submit(prompt string) {
	if l.cancel != nil {
		l.queue = append(l.queue, prompt)
		return
	}
	if l.label == "" {
		l.label = flat(prompt)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel, l.since = cancel, time.Now()
	l.working()
	l.paint(append([]line{{}}, l.screen.wrapped(styleBold, "› ", "  ", plain(prompt))...))
	go func() { l.events <- ended{l.talk.turn(ctx, prompt)} }()
}

// key handles one key; true leaves the program.
func (l *loop) key(k key) bool {
	if k.kind != keyCtrlC {
		l.leaving = false
	}
	if l.dialog != nil && l.dialog.key(k) {
		l.decide()
		return false
	}
	switch k.kind {
	case keyCtrlC:
		switch {
		case l.cancel != nil:
			l.cancel()
		case len(l.edit.text) > 0:
			l.edit.set("")
		case l.leaving:
			return true
		default:
			l.leaving = true
		}
	case keyCtrlD:
		return len(l.edit.text) == 0
	case keyEscape:
		if l.cancel != nil {
			l.cancel()
		}
	case keyEnter:
		if l.dialog != nil {
			return false
		}
		switch prompt := l.edit.take(); prompt {
		case "":
		case "/exit", "/quit":
			return true
		default:
			l.submit(prompt)
		}
	default:
		if l.dialog == nil {
			l.edit.key(k)
		}
	}
	return false
}

// decide closes the dialog and passes on the choice.
func (l *loop) decide() {
	d := l.dialog
	l.dialog = nil
	l.working()
	d.answer <- decision{choice: d.at}
}

// handle shows an event of the turn.
func (l *loop) handle(e any) {
	switch e := e.(type) {
	case said:
		l.paint(l.out.say(plain(e.text)))
	case calling:
		l.paint(append(l.out.flush(), l.screen.wrapped(styleAccent, "● ", "  ", e.name+" "+e.summary)...))
	case returned:
		if l.cancel != nil && l.dialog == nil {
			l.working()
		}
		l.paint(l.out.result(e))
	case counted:
		l.tokens = total(e.usage)
	case noted:
		l.paint(append(l.out.flush(), l.screen.wrapped(styleWarn, "▲ ", "  ", e.text)...))
	case asked:
		l.dialog = &dialog{asked: e}
		kind := "question"
		if e.kind == AsksPermission {
			kind = "permission"
		}
		l.screen.title("! demo" + l.about())
		l.screen.status("blocked", kind, strings.TrimSpace(e.question+" "+e.detail))
		l.paint(l.out.flush())
	case withdrawn:
		if l.dialog != nil && l.dialog.id == e.id {
			l.dialog = nil
			l.working()
		}
		l.paint(nil)
	case ended:
		l.end(e.err)
	}
}

// end closes a turn and begins the next queued one.
func (l *loop) end(err error) {
	l.cancel()
	l.cancel, l.dialog = nil, nil
	above := l.out.flush()
	switch {
	case errors.Is(err, errInterrupted):
		above = append(above, line{style: styleWarn, text: "▲ interrupted"})
		l.rest("idle", "")
	case err != nil:
		above = append(above, l.screen.wrapped(styleWarn, "▲ ", "  ", plain(err.Error()))...)
		l.rest("error", plain(err.Error()))
	default:
		l.rest("done", "")
	}
	l.paint(above)
	if len(l.queue) > 0 {
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.submit(next)
	}
}

// paint draws the live part, below the finished lines.
func (l *loop) paint(above []line) {
	l.greeted = l.greeted && len(above) == 0
	live := append(l.out.live(), line{})
	if l.dialog != nil {
		live = append(live, l.dialog.lines(l.screen)...)
		l.screen.draw(above, live, len(live)-1, 0)
		return
	}
	for _, q := range l.queue {
		live = append(live, line{style: styleDim, text: l.screen.clipped("  queued: "+flat(q), 1)})
	}
	live = append(live, l.statusLine())
	prompt, row, col := l.edit.lines(l.screen.cols)
	row += len(live)
	live = append(live, prompt...)
	l.screen.draw(above, live, row, col)
}

func (l *loop) statusLine() line {
	var text string
	style := styleDim
	switch {
	case l.leaving:
		text = "press ctrl+c again to leave"
	case l.cancel != nil:
		style = styleAccent
		text = fmt.Sprintf("%s working %ds · esc to interrupt",
			frames[l.frame%len(frames)], int(time.Since(l.since).Seconds()))
	case l.tokens > 0:
		text = fmt.Sprintf("%d tokens · %s", l.tokens, l.talk.client.model)
	default:
		text = l.talk.client.model
	}
	return line{style: style, text: l.screen.clipped("  "+text, 1)}
}
