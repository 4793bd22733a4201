package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/agent/demo/record"
)

// The events of a turn, for the loop.
type (
	said     struct{ text string }                       // a piece of the answer
	calling  struct{ call, name, summary, reads string } // a tool begins
	returned struct {
		call, text string
		failed     bool
	} // a tool ended
	refused struct{ call, text string } // the person would have been asked, if there were one
	noted   struct{ text string }       // something the person should know
	asked   struct {                    // the person has to decide
		id, call         string // the call that asks
		kind             string
		question, detail string
		options          []string
		means            []string      // of the options, if anything is known of them
		stands           time.Duration // how long it waits; 0: for ever
		answer           chan decision
	}
	withdrawn struct{ id, why string }     // a question is not open any more
	steered   struct{ text string }        // the turn has taken one more prompt
	counted   struct{ usage record.Usage } // of a request
	ended     struct{ err error }          // the turn is over
)

// decision is what the person answers: the index of an option or -1, and their own words.
type decision struct {
	choice int
	words  string
}

// refusable reports whether the last option is a no.
func (a asked) refusable() bool { return a.kind != AsksChoice }

// errDenied is the result of a tool that the person denied.
var errDenied = errors.New("denied by the person")

// errAlone is the result of what the person would have been asked, if there is none to ask.
var errAlone = errors.New("refused: without a terminal nobody can be asked")

// errWithdrawn is the result of a question that was taken back.
var errWithdrawn = errors.New("the question was withdrawn, since nobody had answered it in time")

// errIdle is the result of every call, if none is to be made.
var errIdle = errors.New("no calls are left: report what is done, and what is missing")

// errInterrupted ends a turn that the person interrupted.
var errInterrupted = errors.New("interrupted by the person")

// talk is the conversation and what is needed to continue it. Only one turn uses it at a time.
type talk struct {
	client   *client
	folder   *folder
	file     *record.File
	messages []json.RawMessage
	tokens   int64       // in the context, according to the newest answer
	base     base        // what is sent before a word is said
	allow    atomic.Bool // commands and tools of MCP servers run without a question
	mcp      *mcpClient  // nil if the agent was given no MCP server
	silent   bool        // the person knows that it cannot be reached
	alone    bool        // there is nobody to ask
	idle     bool        // no call is made
	together bool        // the calls of an answer run at the same time
	further  further
	number   atomic.Int64 // of questions
	tell     func(any)    // called by several goroutines if together is set
}

// turn runs a prompt through all its answers and tools.
func (t *talk) turn(ctx context.Context, prompt string) error {
	asked := record.Message{Role: "user", Content: []record.Block{{Type: "text", Text: prompt}}}
	if err := t.add(asked, record.Line{}); err != nil {
		return err
	}
	for {
		a, err := t.client.ask(ctx, t.messages, t.offered(ctx), func(text string) { t.tell(said{text}) })
		if ctx.Err() != nil {
			return errors.Join(errInterrupted, t.said(a))
		}
		if err != nil {
			return err
		}
		t.tell(counted{a.usage})
		if err := t.add(a.message, record.Line{Model: t.client.model, Stop: a.stop, Usage: &a.usage}); err != nil {
			return err
		}
		results := t.tools(ctx, a.message.Content)
		if len(results) > 0 {
			if err := t.add(record.Message{Role: "user", Content: results}, record.Line{}); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
		more := t.further.take(len(results) == 0)
		if len(results)+len(more) == 0 {
			return nil
		}
		for _, text := range more {
			if err := t.add(record.Message{Role: "user", Content: []record.Block{{Type: "text", Text: text}}}, record.Line{}); err != nil {
				return err
			}
			t.tell(steered{text})
		}
	}
}

// said keeps what an answer had said when it was interrupted.
func (t *talk) said(a answer) error {
	a.message.Content = slices.DeleteFunc(a.message.Content, func(b record.Block) bool { return b.Type != "text" || b.Text == "" })
	if len(a.message.Content) == 0 {
		return nil
	}
	return t.add(a.message, record.Line{Model: t.client.model, Stop: record.StopInterrupted})
}

// offered returns the tools that the model may call now: what an MCP server offers may change with each request.
func (t *talk) offered(ctx context.Context) []definition {
	if t.mcp == nil {
		return t.base.tools()
	}
	more, err := t.mcp.list(ctx)
	if err != nil && ctx.Err() == nil && !t.silent {
		t.silent = true
		t.tell(noted{fmt.Sprintf("the MCP server %s cannot be reached: %s", t.mcp.server.Name, plain(err.Error()))})
	}
	return slices.Concat(t.base.tools(), more)
}

// total returns the tokens in the context after an answer.
func total(u record.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// add adds a message to the conversation and the transcript.
func (t *talk) add(m record.Message, l record.Line) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	l.Type, l.Message = record.TypeMessage, raw
	if err := t.file.Append(l); err != nil {
		return err
	}
	t.messages = append(t.messages, raw)
	return nil
}

// tools runs the calls in an answer and returns a result for each.
func (t *talk) tools(ctx context.Context, content []record.Block) []record.Block {
	calls := slices.DeleteFunc(slices.Clone(content), func(b record.Block) bool { return b.Type != "tool_use" })
	results := make([]record.Block, len(calls))
	var all sync.WaitGroup
	for i, b := range calls {
		if t.together {
			all.Go(func() { results[i] = t.result(ctx, b) })
		} else {
			results[i] = t.result(ctx, b)
		}
	}
	all.Wait()
	return results
}

// result runs a call and returns its result.
func (t *talk) result(ctx context.Context, b record.Block) record.Block {
	out, err := t.tool(ctx, b)
	r := record.Block{Type: "tool_result", Use: b.ID, Content: out}
	if err != nil {
		r.Content, r.IsError = err.Error(), true
	}
	t.tell(returned{b.ID, r.Content, r.IsError})
	return r
}

func (t *talk) tool(ctx context.Context, b record.Block) (string, error) {
	if ctx.Err() != nil {
		return "", errInterrupted
	}
	if t.idle {
		return "", errIdle
	}
	if t.mcp != nil && strings.HasPrefix(b.Name, t.mcp.prefix()) {
		return t.remote(ctx, b)
	}
	if b.Name == SubAgent {
		return t.delegate(ctx, b)
	}
	if !t.base.offers(b.Name) {
		return "", noTool(b.Name)
	}
	in, err := readInput(b.Input)
	if err != nil {
		return "", err
	}
	c := calling{call: b.ID, name: b.Name, summary: in.summary()}
	if b.Name == "read_file" {
		c.reads = in.Path
	}
	t.tell(c)
	switch b.Name {
	case "ask_person":
		return t.inquire(ctx, b.ID, in)
	case "run_command":
		if in, err = t.command(ctx, b.ID, in); err != nil {
			return "", err
		}
	}
	out, err := t.folder.run(ctx, b.Name, in)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return out, err
}

// inquire asks the person what the model wants to know.
func (t *talk) inquire(ctx context.Context, call string, in input) (string, error) {
	q := asked{call: call, kind: AsksChoice, question: plain(in.Question), detail: plain(in.About), options: in.Options, stands: in.stands()}
	if in.Kind == AsksPlan && len(in.Options) == 2 {
		q.kind, q.means = AsksPlan, []string{MeansYes, MeansNo}
	}
	d, err := t.ask(ctx, q)
	switch {
	case err != nil:
		return "", err
	case d.choice < 0 && d.words == "", q.refusable() && d.choice != 0:
		return "", d.denied()
	case d.choice < 0:
		return d.words, nil
	case d.words != "":
		return in.Options[d.choice] + ": " + d.words, nil
	default:
		return in.Options[d.choice], nil
	}
}

// denied is the result of what the person denied, with their words.
func (d decision) denied() error {
	if d.words == "" {
		return errDenied
	}
	return fmt.Errorf("%w: %s", errDenied, d.words)
}

// command asks whether a command may run, and returns what may: the model may say what it wants instead if nobody answers.
func (t *talk) command(ctx context.Context, call string, in input) (input, error) {
	err := t.permit(ctx, call, "Allow this command?", in.Command, in.stands())
	if errors.Is(err, errWithdrawn) && in.Instead != "" {
		in.Command = in.Instead
		err = t.permit(ctx, call, "Allow this command?", in.Command, 0)
	}
	return in, err
}

// remote calls a tool of the MCP server.
func (t *talk) remote(ctx context.Context, b record.Block) (string, error) {
	name := strings.TrimPrefix(b.Name, t.mcp.prefix())
	t.tell(calling{call: b.ID, name: name, summary: plain(string(b.Input))})
	if !slices.Contains(t.mcp.server.Free, name) {
		if err := t.permit(ctx, b.ID, "Allow this tool of an MCP server?", name+" "+string(b.Input), 0); err != nil {
			return "", err
		}
	}
	out, err := t.mcp.use(ctx, b.Name, b.Input)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return out, err
}

// permit asks the person whether something may be done, unless it may be without a question.
func (t *talk) permit(ctx context.Context, call, question, what string, stands time.Duration) error {
	if t.allow.Load() {
		return nil
	}
	d, err := t.ask(ctx, asked{
		call: call, kind: AsksPermission, question: question, detail: plain(what), stands: stands,
		options: []string{"Yes", "Yes, and do not ask again in this session", "No"},
		means:   []string{MeansYes, MeansAlways, MeansNo},
	})
	switch {
	case err != nil:
		return err
	case d.choice < 0 || d.choice == 2:
		return d.denied()
	case d.choice == 1:
		t.allow.Store(true)
	}
	return nil
}

// ask asks the person a question.
func (t *talk) ask(ctx context.Context, q asked) (decision, error) {
	if len(q.options) == 0 {
		return decision{}, errors.New("a question without options")
	}
	if t.alone {
		t.tell(refused{q.call, strings.TrimSpace(q.question + " " + q.detail)})
		return decision{}, errAlone
	}
	q.id, q.answer = fmt.Sprintf("%s/%d", q.call, t.number.Add(1)), make(chan decision, 1)
	var late <-chan time.Time
	if q.stands > 0 {
		late = time.After(q.stands)
	}
	t.tell(q)
	taken := func(d decision) (decision, error) {
		if d.choice < 0 || d.choice >= len(q.options) {
			d.choice = -1
		}
		return d, nil
	}
	over := errInterrupted
	select {
	case d := <-q.answer:
		return taken(d)
	case <-ctx.Done():
	case <-late:
		over = errWithdrawn
	}
	t.tell(withdrawn{q.id, over.Error()})
	select {
	case d := <-q.answer: // it was given at the same moment
		if ctx.Err() == nil {
			return taken(d)
		}
	default:
	}
	return decision{}, over
}

// load reads a transcript. Calls without a result get one, since the real one was lost.
func (t *talk) load(lines []record.Line) error {
	var open []record.Block
	for _, l := range lines {
		if l.Type != record.TypeMessage {
			continue
		}
		var m record.Message
		if err := json.Unmarshal(l.Message, &m); err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		t.messages = append(t.messages, l.Message)
		if l.Usage != nil {
			t.tokens = total(*l.Usage)
		}
		open = nil
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open = append(open, record.Block{
					Type: "tool_result", Use: b.ID, IsError: true, Content: "interrupted: its result is not known",
				})
			}
		}
	}
	if len(open) > 0 {
		return t.add(record.Message{Role: "user", Content: open}, record.Line{})
	}
	return nil
}

// retell returns the last lines of a conversation as they are shown.
func (t *talk) retell(most int) []line {
	var out []line
	for _, raw := range t.messages {
		var m record.Message
		if json.Unmarshal(raw, &m) != nil {
			continue // impossible: load has read it
		}
		text := strings.TrimSpace(plain(m.Text()))
		switch {
		case text == "":
		case m.Role == "user":
			out = append(out, line{style: styleNone, text: ""}, line{style: styleBold, text: "› " + text})
		default:
			out = append(out, line{style: styleNone, text: "● " + text})
		}
	}
	return out[max(0, len(out)-most):]
}

// delegate has a sub-agent do a task, and returns what it said last. It has a session of its own, which is not kept, and
// nobody to ask.
func (t *talk) delegate(ctx context.Context, b record.Block) (string, error) {
	var in Handed
	if err := json.Unmarshal(b.Input, &in); err != nil || in.Task == "" {
		return "", fmt.Errorf("a sub-agent needs a task: %s", plain(string(b.Input)))
	}
	t.tell(calling{call: b.ID, name: b.Name, summary: plain(in.Type + ": " + in.Task)})
	client := *t.client
	client.parent, client.session = t.client.session, t.client.session+"/"+b.ID
	sub := &talk{client: &client, folder: t.folder, base: t.base, alone: true, idle: t.idle, tell: func(e any) {
		if c, ok := e.(counted); ok {
			t.tell(c)
		}
	}}
	sub.allow.Store(t.allow.Load())
	sub.say(record.Message{Role: "user", Content: []record.Block{{Type: "text", Text: in.Task}}})
	for range mostRounds {
		a, err := client.ask(ctx, sub.messages, sub.base.tools(), func(string) {})
		if ctx.Err() != nil {
			return "", errInterrupted
		}
		if err != nil {
			return "", err
		}
		sub.tell(counted{a.usage})
		sub.say(a.message)
		results := sub.tools(ctx, a.message.Content)
		if len(results) == 0 {
			return textOf(a.message), nil
		}
		sub.say(record.Message{Role: "user", Content: results})
	}
	return "", fmt.Errorf("the sub-agent took more than %d answers", mostRounds)
}

// say adds a message to a conversation that is not kept.
func (t *talk) say(m record.Message) {
	if raw, err := json.Marshal(m); err == nil { // it is made of plain values
		t.messages = append(t.messages, raw)
	}
}
