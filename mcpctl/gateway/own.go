package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// findTool searches.
func (c *call) findTool(ctx context.Context, arguments object) (json.RawMessage, error) {
	found := c.session.gateway.servers.Find(ctx, c.session.id, arguments.text("query"))
	if len(found) == 0 {
		return said("No tool of the configured MCP servers fits."), nil
	}
	on := toolNames(c.session.gateway.servers.On(c.session.id))
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
		return plaintext.Cut(s, 200) + " …"
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
	if no := arguments.into(&a, "token, from, to, grep, head and offset"); no != nil {
		return no, nil
	}
	part := thread.Selection{From: a.From, To: a.To, Grep: a.Grep, Head: a.Head}
	switch err := part.Check(); {
	case err != nil:
		return failure(fmt.Sprintf("select lines from 1 on, and a range that does not end before it begins (%v)", err)), nil
	case a.Offset < 0:
		return failure("offset cannot be negative"), nil
	}
	out := newWindow(a.Offset)
	err := c.session.gateway.stager.Read(ctx, c.session.id, a.Token, part, out)
	switch {
	case errors.Is(err, errFull):
		out.cut("go on with the same selection and offset %d, or select less")
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

// whole returns a text without a character at its end that is cut.
func whole(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// errFull ends the reading of a selection.
var errFull = errors.New("enough was read")

// cut ends what was kept where a character does, and says where to go on, with the words of a format.
func (w *window) cut(goOn string) {
	n := len(whole(w.text.Bytes()))
	w.text.Truncate(n)
	fmt.Fprintf(&w.text, "\n[cut after %d bytes; "+goOn+"]", n, w.from+int64(n))
}

// window takes a part of what is written: it skips some bytes and then keeps so many.
type window struct {
	from int64 // what it skips of all
	skip int64 // and what of that is left
	left int
	text bytes.Buffer
}

func newWindow(from int64) *window { return &window{from: from, skip: from, left: defaultStage} }

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
