package verb

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// printer reports to the user, or to a program, what happens on the way to an answer.
type printer interface {
	begin(s thread.Status)
	prompt(p thread.Prompt)
	state(s thread.State)
	// text prints a piece of a response, and pause ends the response. After retry, earlier text of that request is void,
	// because the agent repeats it. Request 0 is text that was read after the end of the turn.
	text(request int64, text string)
	pause()
	retry(request int64)
	notice(text string)
	end(a answer) error
}

func newPrinter(c *cli, t followOptions) printer {
	switch {
	case c.out.json:
		return &jsonPrinter{cli: c}
	case t.lines():
		return &ndjsonPrinter{cli: c}
	default:
		return &textPrinter{cli: c}
	}
}

// textPrinter prints for people: the model's text on stdout, everything else on stderr.
type textPrinter struct {
	cli    *cli
	begun  bool // part of the response was printed
	breaks int  // pending line breaks, printed when more text follows
	told   string
}

func (p *textPrinter) begin(s thread.Status) {
	fmt.Fprintf(p.cli.out.stderr, "%s\n", s.Name)
	if s.Launch.NoGateway {
		p.notice("without the gateway the answer is printed at the end of the turn")
	}
}

func (p *textPrinter) prompt(q thread.Prompt) {
	if q.State == thread.PromptQueued && q.Reason != "" && q.Reason != p.told {
		p.told = q.Reason
		p.notice(fmt.Sprintf("prompt %s is queued: %s", q.ID, q.Reason))
	}
}

func (p *textPrinter) state(thread.State) {}

func (p *textPrinter) text(_ int64, text string) {
	if !p.begun {
		text = strings.TrimLeft(text, "\n")
	}
	body := strings.TrimRight(text, "\n")
	if body == "" {
		p.breaks += len(text)
		return
	}
	fmt.Fprint(p.cli.out.stdout, strings.Repeat("\n", p.breaks), body)
	p.begun, p.breaks = true, len(text)-len(body)
}

func (p *textPrinter) pause() {
	if p.begun {
		fmt.Fprintln(p.cli.out.stdout)
	}
	p.begun, p.breaks = false, 0
}

func (p *textPrinter) retry(int64) {
	p.notice("the answer was cut off; the agent retries, and the whole answer follows")
}

func (p *textPrinter) notice(text string) { fmt.Fprintln(p.cli.out.stderr, "orchestrator:", text) }

func (p *textPrinter) end(answer) error { return nil }

// jsonPrinter prints a single JSON object at the end.
type jsonPrinter struct{ cli *cli }

func (*jsonPrinter) begin(thread.Status)  {}
func (*jsonPrinter) prompt(thread.Prompt) {}
func (*jsonPrinter) state(thread.State)   {}
func (*jsonPrinter) text(int64, string)   {}
func (*jsonPrinter) pause()               {}
func (*jsonPrinter) retry(int64)          {}
func (o *jsonPrinter) notice(text string) { fmt.Fprintln(o.cli.out.stderr, "orchestrator:", text) }
func (o *jsonPrinter) end(a answer) error { return o.cli.out.show(a, nil) }

// talkEvent is one line of -o ndjson.
type talkEvent struct {
	// Event is "begin" at first; "prompt" when the prompt's state changes, with Prompt, State, Turn and Reason; "state"
	// with the thread's State; "text" with the next piece of the answer to Request; "retry" if Request repeats an answer
	// that was cut off; "notice" with Text; and "end" at last, with the Answer.
	Event   string          `json:"event"`
	At      time.Time       `json:"at"`
	Thread  string          `json:"thread,omitempty"`
	Prompt  thread.PromptID `json:"prompt,omitempty"`
	State   string          `json:"state,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Request int64           `json:"request,omitempty"`
	Text    string          `json:"text,omitempty"`
	Answer  *answer         `json:"answer,omitempty"`
}

// ndjsonPrinter prints events as JSON, one object per line.
type ndjsonPrinter struct {
	cli    *cli
	failed error // the first error while printing
}

func (l *ndjsonPrinter) put(e talkEvent) {
	e.At = time.Now()
	w := plaintext.NewJSONWriter(l.cli.out.stdout)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	if err == nil {
		err = w.Flush()
	}
	if err != nil && l.failed == nil {
		l.failed = fmt.Errorf("print events: %w", err)
	}
}

func (l *ndjsonPrinter) begin(s thread.Status) {
	l.put(talkEvent{Event: "begin", Thread: s.Name, State: string(s.State.State)})
}

func (l *ndjsonPrinter) prompt(p thread.Prompt) {
	l.put(talkEvent{Event: "prompt", Prompt: p.ID, State: string(p.State), Turn: p.Turn, Reason: p.Reason})
}
func (l *ndjsonPrinter) state(s thread.State) { l.put(talkEvent{Event: "state", State: string(s)}) }
func (l *ndjsonPrinter) text(request int64, text string) {
	l.put(talkEvent{Event: "text", Request: request, Text: text})
}
func (l *ndjsonPrinter) pause()              {}
func (l *ndjsonPrinter) retry(request int64) { l.put(talkEvent{Event: "retry", Request: request}) }
func (l *ndjsonPrinter) notice(text string)  { l.put(talkEvent{Event: "notice", Text: text}) }
func (l *ndjsonPrinter) end(a answer) error {
	l.put(talkEvent{Event: "end", Answer: &a})
	return l.failed
}

// followOptions has the flags of verbs that wait for an agent's answer.
type followOptions struct {
	limit time.Duration // 0 is none
	as    formatFlag
}

// lines reports whether each event is to be a line of JSON.
func (t followOptions) lines() bool { return t.as.format == formatNDJSON }

func (t *followOptions) flags(c *cli, cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.limit, "timeout", 0,
		"stop waiting for the answer after this time, such as 10m; the agent keeps running")
	t.as = formatFlag{json: &c.out.json, lines: true}
	cmd.Flags().VarP(&t.as, "output", "o",
		"text: stream the answer; json: the same as --json; ndjson: stream events, one JSON object per line")
}

// check validates the flags.
func (t *followOptions) check(json bool) error {
	switch {
	case json && t.lines():
		return usagef("--json and -o ndjson cannot be combined")
	case t.limit < 0:
		return usagef("--timeout %v: must be a duration, such as 10m", t.limit)
	}
	return nil
}
