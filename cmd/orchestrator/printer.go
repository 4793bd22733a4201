package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// printer tells the person, or a program, what happens on the way to an answer.
type printer interface {
	begin(s thread.Status)
	prompt(p thread.Prompt)
	state(s thread.State)
	// text is a piece of a response; pause ends the response. What was said of a request is void where it is asked
	// again, which retry tells. Request 0 is what was read after the turn's end.
	text(request int64, text string)
	pause()
	retry(request int64)
	notice(text string)
	end(a answer) error
}

func newPrinter(c *cli, t talk) printer {
	switch {
	case c.json:
		return &oneObject{cli: c}
	case t.format == "ndjson":
		return &lines{cli: c}
	default:
		return &prose{cli: c}
	}
}

// prose prints for people: what the model says on stdout, everything else on stderr.
type prose struct {
	*cli
	begun  bool // something of the response was printed
	breaks int  // line breaks that are printed when more follows
	told   string
}

func (p *prose) begin(s thread.Status) {
	fmt.Fprintf(p.stderr, "%s\n", s.Name)
	if s.Launch.NoGateway {
		p.notice("without the gateway the answer comes when the turn has ended")
	}
}

func (p *prose) prompt(q thread.Prompt) {
	if q.State == thread.PromptQueued && q.Reason != "" && q.Reason != p.told {
		p.told = q.Reason
		p.notice(fmt.Sprintf("prompt %s is queued: %s", q.ID, q.Reason))
	}
}

func (p *prose) state(thread.State) {}

func (p *prose) text(_ int64, text string) {
	if !p.begun {
		text = strings.TrimLeft(text, "\n")
	}
	body := strings.TrimRight(text, "\n")
	if body == "" {
		p.breaks += len(text)
		return
	}
	fmt.Fprint(p.stdout, strings.Repeat("\n", p.breaks), body)
	p.begun, p.breaks = true, len(text)-len(body)
}

func (p *prose) pause() {
	if p.begun {
		fmt.Fprintln(p.stdout)
	}
	p.begun, p.breaks = false, 0
}

func (p *prose) retry(int64) {
	p.notice("the answer was cut off; the agent asks again, and all of it follows")
}

func (p *prose) notice(text string) { fmt.Fprintln(p.stderr, "orchestrator:", text) }

func (p *prose) end(answer) error { return nil }

// oneObject prints one JSON object at the end.
type oneObject struct{ *cli }

func (*oneObject) begin(thread.Status)  {}
func (*oneObject) prompt(thread.Prompt) {}
func (*oneObject) state(thread.State)   {}
func (*oneObject) text(int64, string)   {}
func (*oneObject) pause()               {}
func (*oneObject) retry(int64)          {}
func (o *oneObject) notice(text string) { fmt.Fprintln(o.stderr, "orchestrator:", text) }
func (o *oneObject) end(a answer) error { return o.show(a, nil) }

// talkEvent is one line of -o ndjson.
type talkEvent struct {
	// Event is "begin" first; "prompt", with Prompt, State, Turn and Reason, when it got further; "state", with the thread's
	// State; "text", with a piece of what the model says in answer to Request; "retry", where Request gives again what was
	// cut off before; "notice", with Text; and "end" last, with the Answer.
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

// lines prints what happens as JSON, one object a line.
type lines struct {
	*cli
	failed error // of the first line that could not be printed
}

func (l *lines) put(e talkEvent) {
	e.At = time.Now()
	w := plaintext.NewJSONWriter(l.stdout)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	if err == nil {
		err = w.Flush()
	}
	if err != nil && l.failed == nil {
		l.failed = fmt.Errorf("print what happens: %w", err)
	}
}

func (l *lines) begin(s thread.Status) {
	l.put(talkEvent{Event: "begin", Thread: s.Name, State: string(s.State.State)})
}

func (l *lines) prompt(p thread.Prompt) {
	l.put(talkEvent{Event: "prompt", Prompt: p.ID, State: string(p.State), Turn: p.Turn, Reason: p.Reason})
}
func (l *lines) state(s thread.State) { l.put(talkEvent{Event: "state", State: string(s)}) }
func (l *lines) text(request int64, text string) {
	l.put(talkEvent{Event: "text", Request: request, Text: text})
}
func (l *lines) pause()              {}
func (l *lines) retry(request int64) { l.put(talkEvent{Event: "retry", Request: request}) }
func (l *lines) notice(text string)  { l.put(talkEvent{Event: "notice", Text: text}) }
func (l *lines) end(a answer) error {
	l.put(talkEvent{Event: "end", Answer: &a})
	return l.failed
}

// talk is how a verb that asks an agent something waits for the answer.
type talk struct {
	limit  time.Duration // 0 is none
	format string        // "text" or "ndjson"
}

func (t *talk) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.limit, "timeout", 0,
		"stop waiting for the answer after this time, such as 10m; the agent goes on")
	cmd.Flags().StringVarP(&t.format, "output", "o", "text",
		"text: the answer as the model says it; ndjson: what happens, one JSON object a line")
}

// check refuses what cannot be printed.
func (t *talk) check(json bool) error {
	switch {
	case t.format != "text" && t.format != "ndjson":
		return usagef("--output %q: give text or ndjson", t.format)
	case json && t.format == "ndjson":
		return usagef("--json prints one object and -o ndjson many: give one of them")
	case t.limit < 0:
		return usagef("--timeout %v: give a time, such as 10m", t.limit)
	}
	return nil
}
