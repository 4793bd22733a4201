package verb

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// runPrinter reports what happens in an execution.
type runPrinter interface {
	// begin names what is followed, and whether Ctrl+C cancels it; waits is called when it has had a moment to start.
	begin(x work.Execution, cancels bool)
	waits()
	// piece is what it reports; states come once.
	piece(p thread.RunPiece)
	notice(text string)
	end(x work.Execution) error
}

func newRunPrinter(c *cli, t followOptions) runPrinter {
	switch {
	case c.out.json:
		return &runJSON{c}
	case t.lines():
		return &runLines{cli: c}
	default:
		f, isFile := c.out.terminal()
		return &runText{cli: c, beside: isFile && term.IsTerminal(f.Fd())}
	}
}

// runText prints for people: what the model says on stdout, everything else on stderr.
type runText struct {
	cli  *cli
	open bool // a line of what the model says is not ended yet
	// beside is set if both stand on one terminal: then every line ends that line. Elsewhere only what the agent does does.
	beside bool
	// waiting is why it waits, which is said once it is late.
	waiting string
	late    bool
}

func (r *runText) begin(x work.Execution, cancels bool) {
	how := ""
	if cancels {
		how = ": Ctrl+C cancels it"
	}
	fmt.Fprintf(r.cli.out.stderr, "orchestrator: %s%s\n", x.Name, how)
}

func (r *runText) waits() {
	r.late = true
	if r.waiting != "" {
		r.remark(r.waiting)
	}
}

func (r *runText) piece(p thread.RunPiece) {
	if p.Missed > 0 {
		r.remark(fmt.Sprintf("%s missed: this terminal was too slow; `orchestrator exec logs %s` has them",
			page.Counted(int64(p.Missed), "piece"), p.Execution))
	}
	if p.Event == nil {
		says := page.RunState(p)
		if r.waiting = ""; work.State(p.State) == work.Queued && says != "" {
			r.waiting = p.Execution + " " + says
			if says = ""; r.late {
				says = r.waiting
			}
		}
		if says != "" {
			r.remark(says)
		}
		return
	}
	if e := *p.Event; e.Kind == thread.RunText && e.Sub == "" {
		fmt.Fprint(r.cli.out.stdout, e.Text)
		if e.Text != "" {
			r.open = !strings.HasSuffix(e.Text, "\n")
		}
	} else if says := page.RunEvent(e); says != "" {
		r.close()
		fmt.Fprintln(r.cli.out.stderr, says)
	}
}

// remark prints a line beside what the model says.
func (r *runText) remark(text string) {
	if r.beside {
		r.close()
	}
	fmt.Fprintln(r.cli.out.stderr, text)
}

// close ends the line of what the model says.
func (r *runText) close() {
	if r.open {
		fmt.Fprintln(r.cli.out.stdout)
	}
	r.open = false
}

func (r *runText) notice(text string) { r.remark("orchestrator: " + text) }

func (r *runText) end(work.Execution) error {
	r.close()
	return nil
}

// runJSON prints the execution at its end.
type runJSON struct{ cli *cli }

func (*runJSON) begin(work.Execution, bool)   {}
func (*runJSON) waits()                       {}
func (*runJSON) piece(thread.RunPiece)        {}
func (r *runJSON) notice(text string)         { fmt.Fprintln(r.cli.out.stderr, "orchestrator:", text) }
func (r *runJSON) end(x work.Execution) error { return r.cli.out.show(x, nil) }

// runLine is one line of -o ndjson: what an agent reports, as in thread.RunEvent, and besides the kinds "state", with the
// execution's State and Reason, and at last "execution" with the Result.
type runLine struct {
	Execution string `json:"execution"`
	Attempt   int    `json:"attempt,omitempty"`
	Missed    int    `json:"missed,omitempty"` // how many lines are missing before this one
	thread.RunEvent
	Result *work.Execution `json:"result,omitempty"`
}

// runLines prints lines of JSON.
type runLines struct {
	cli    *cli
	failed error // the first error while printing
}

func (l *runLines) put(line runLine) {
	w := plaintext.NewJSONWriter(l.cli.out.stdout)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	if err == nil {
		err = w.Flush()
	}
	if err != nil && l.failed == nil {
		l.failed = fmt.Errorf("print events: %w", err)
	}
}

func (*runLines) begin(work.Execution, bool) {}
func (*runLines) waits()                     {}

func (l *runLines) piece(p thread.RunPiece) {
	line := runLine{Execution: p.Execution, Attempt: p.Attempt, Missed: p.Missed}
	if p.Event != nil {
		line.RunEvent = *p.Event
	} else {
		line.RunEvent = thread.RunEvent{Kind: "state", At: time.Now(), State: thread.State(p.State), Reason: p.Reason}
	}
	l.put(line)
}

func (l *runLines) notice(text string) { fmt.Fprintln(l.cli.out.stderr, "orchestrator:", text) }

func (l *runLines) end(x work.Execution) error {
	l.put(runLine{Execution: x.Name, Attempt: x.Attempt, RunEvent: thread.RunEvent{Kind: "execution", At: x.Ended}, Result: &x})
	return l.failed
}
