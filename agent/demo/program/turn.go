package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/agent/demo/record"
)

// The events of a turn, for the loop.
type (
	said     struct{ text string }                // a piece of the answer
	calling  struct{ call, name, summary string } // a tool begins
	returned struct {
		call, text string
		failed     bool
	} // a tool ended
	refused struct{ call, text string } // the person would have been asked, if there were one
	noted   struct{ text string }       // something the person should know
	asked   struct {                    // the person has to decide; the answer is an index
		call             string // the call that asks
		question, detail string
		options          []string
		permission       bool
		answer           chan int
	}
	counted struct{ usage record.Usage } // of a request
	ended   struct{ err error }          // the turn is over
)

// errDenied is the result of a tool that the person denied.
var errDenied = errors.New("denied by the person")

// errAlone is the result of what the person would have been asked, if there is none to ask.
var errAlone = errors.New("refused: without a terminal nobody can be asked")

// errInterrupted ends a turn that the person interrupted.
var errInterrupted = errors.New("interrupted by the person")

// talk is the conversation and what is needed to continue it. Only one turn uses it at a time.
type talk struct {
	client   *client
	folder   *folder
	file     *record.File
	messages []json.RawMessage
	tokens   int64      // in the context, according to the newest answer
	base     base       // what is sent before a word is said
	allow    bool       // commands and tools of MCP servers run without a question
	mcp      *mcpClient // nil if the agent was given no MCP server
	silent   bool       // the person knows that it cannot be reached
	alone    bool       // there is nobody to ask
	tell     func(any)
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
			return errInterrupted
		}
		if err != nil {
			return err
		}
		t.tell(counted{a.usage})
		if err := t.add(a.message, record.Line{Model: t.client.model, Stop: a.stop, Usage: &a.usage}); err != nil {
			return err
		}
		results := t.tools(ctx, a.message.Content)
		if len(results) == 0 {
			return nil
		}
		if err := t.add(record.Message{Role: "user", Content: results}, record.Line{}); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
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
	var results []record.Block
	for _, b := range content {
		if b.Type != "tool_use" {
			continue
		}
		out, err := t.tool(ctx, b)
		r := record.Block{Type: "tool_result", Use: b.ID, Content: out}
		if err != nil {
			r.Content, r.IsError = err.Error(), true
		}
		t.tell(returned{b.ID, r.Content, r.IsError})
		results = append(results, r)
	}
	return results
}

func (t *talk) tool(ctx context.Context, b record.Block) (string, error) {
	if ctx.Err() != nil {
		return "", errInterrupted
	}
	if t.mcp != nil && strings.HasPrefix(b.Name, t.mcp.prefix()) {
		return t.remote(ctx, b)
	}
	if !t.base.offers(b.Name) {
		return "", noTool(b.Name)
	}
	in, err := readInput(b.Input)
	if err != nil {
		return "", err
	}
	t.tell(calling{b.ID, b.Name, in.summary()})
	switch {
	case b.Name == "ask_person":
		n, err := t.ask(ctx, asked{call: b.ID, question: plain(in.Question), options: in.Options})
		if err != nil {
			return "", err
		}
		return in.Options[n], nil
	case b.Name == "run_command":
		if err := t.permit(ctx, b.ID, "Allow this command?", in.Command); err != nil {
			return "", err
		}
	}
	out, err := t.folder.run(ctx, b.Name, in)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return out, err
}

// remote calls a tool of the MCP server.
func (t *talk) remote(ctx context.Context, b record.Block) (string, error) {
	name := strings.TrimPrefix(b.Name, t.mcp.prefix())
	t.tell(calling{b.ID, name, plain(string(b.Input))})
	if err := t.permit(ctx, b.ID, "Allow this tool of an MCP server?", name+" "+string(b.Input)); err != nil {
		return "", err
	}
	out, err := t.mcp.use(ctx, b.Name, b.Input)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return out, err
}

// permit asks the person whether something may be done, unless it may be without a question.
func (t *talk) permit(ctx context.Context, call, question, what string) error {
	if t.allow {
		return nil
	}
	n, err := t.ask(ctx, asked{
		call: call, question: question, detail: plain(what), permission: true,
		options: []string{"Yes", "Yes, and do not ask again in this session", "No"},
	})
	if err != nil {
		return err
	}
	if n == 2 {
		return errDenied
	}
	t.allow = n == 1
	return nil
}

// ask asks the person a question.
func (t *talk) ask(ctx context.Context, q asked) (int, error) {
	if len(q.options) == 0 {
		return 0, errors.New("a question without options")
	}
	if t.alone {
		t.tell(refused{q.call, strings.TrimSpace(q.question + " " + q.detail)})
		return 0, errAlone
	}
	q.answer = make(chan int, 1)
	t.tell(q)
	select {
	case n := <-q.answer:
		if n < 0 || n >= len(q.options) {
			return 0, errDenied
		}
		return n, nil
	case <-ctx.Done():
		return 0, errInterrupted
	}
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
