package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/mcpctl/rpc"
	"orchestrator/thread"
)

// callOwn calls one of them.
func (c *call) callOwn(ctx context.Context, name string) (json.RawMessage, error) {
	arguments, err := asObject(c.params["arguments"])
	if err != nil {
		return nil, err
	}
	switch name {
	case retrieveTool:
		return c.retrieve(ctx, arguments)
	case findTool:
		return c.findTool(ctx, arguments)
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "unknown tool %q", name)
}

// findTool searches.
func (c *call) findTool(ctx context.Context, arguments object) (json.RawMessage, error) {
	found := c.gateway.servers.Find(ctx, c.session.id, arguments.text("query"))
	if len(found) == 0 {
		return said("No tool of the configured MCP servers fits."), nil
	}
	on := tools(c.gateway.servers.On(c.session.id))
	var out strings.Builder
	for _, f := range found {
		name := f.Server + separator + f.Tool
		for _, e := range on {
			if e.server == f.Server && e.own == f.Tool {
				name = e.name
			}
		}
		state := "can be called"
		if !f.On {
			state = "switched off: the person can switch on " + f.Server
		}
		fmt.Fprintf(&out, "%s (%s): %s\n", name, state, firstLine(f.Description))
	}
	return said(out.String()), nil
}

// firstLine returns the first line of a text, at most 200 bytes of it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		return cut(s, 200) + " …"
	}
	return s
}

// retrieve reads staged data.
func (c *call) retrieve(ctx context.Context, arguments object) (json.RawMessage, error) {
	var a struct {
		Token  string
		From   int64
		To     int64
		Grep   string
		Head   int64
		Offset int64
	}
	if err := json.Unmarshal(arguments.raw(), &a); err != nil {
		return failure("the arguments do not fit: " + err.Error()), nil
	}
	part := thread.Selection{From: a.From, To: a.To, Grep: a.Grep, Head: a.Head}
	if err := part.Check(); err != nil || a.Offset < 0 {
		return failure(fmt.Sprintf("select lines from 1 on, and a range that does not end before it begins (%v)", err)), nil
	}
	out := &window{skip: a.Offset, left: defaultStage}
	err := c.gateway.stager.Read(ctx, c.session.id, a.Token, part, out)
	switch {
	case errors.Is(err, errFull):
		out.text.WriteString(fmt.Sprintf("\n[cut after %d bytes; go on with the same selection and offset %d, or select less]",
			defaultStage, a.Offset+int64(defaultStage)))
	case err != nil:
		return failure(err.Error()), nil
	case out.text.Len() == 0:
		return said("[nothing is selected]"), nil
	}
	text := out.text.Bytes()
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return said(string(text)), nil
}

// errFull ends the reading of a selection.
var errFull = errors.New("enough was read")

// window takes a part of what is written: it skips some bytes and then keeps so many.
type window struct {
	skip int64
	left int
	text bytes.Buffer
}

// Write implements io.Writer.
func (w *window) Write(b []byte) (int, error) {
	n := len(b)
	if w.skip >= int64(len(b)) {
		w.skip -= int64(len(b))
		return n, nil
	}
	b = b[w.skip:]
	w.skip = 0
	if len(b) > w.left {
		w.text.Write(b[:w.left])
		w.left = 0
		return 0, errFull
	}
	w.left -= len(b)
	w.text.Write(b)
	return n, nil
}
