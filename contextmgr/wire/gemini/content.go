package gemini

import (
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
)

// spoken marks contents of the user with more than function responses.
const spoken wire.Flags = 1

// scannedContent is a content as a scan needs it.
type scannedContent struct {
	role  wire.Value
	lists int // how often the parts are there
	more  bool
	parts []scannedPart
}

// scannedPart is a part with a call or a response.
type scannedPart struct {
	function
	calls, responses int
	// signed is set if the part may have a signature. Such a part must come back as it was.
	signed bool
}

// function is a call or a response.
type function struct {
	id, name, args, response wire.Value
	media                    int
	failed                   bool
}

// readContent reads one content: whether it may contain a person's text, and the tools' results and inputs.
func readContent(c *span.Cursor, f *wire.Facts) error {
	var m scannedContent
	err := c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "role":
			return m.role.Read(c)
		case "parts":
			m.lists++
			return c.Array(func(c *span.Cursor) error { return m.part(c, f.Listing) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	model := m.role.Is("model")
	if model {
		f.Flags |= wire.ByModel
	}
	if !model && m.more {
		f.Flags |= spoken
	}
	if !f.Listing || !m.role.AtMostOnce() || m.lists != 1 {
		return nil
	}
	if model {
		m.addCalls(f)
	} else {
		m.addResponses(f)
	}
	return nil
}

// part reads one part.
func (m *scannedContent) part(c *span.Cursor, listing bool) error {
	var p scannedPart
	err := c.Object(func(key string, c *span.Cursor) error {
		m.more = m.more || key != "functionResponse"
		switch {
		case !listing:
		case key == "functionCall":
			p.calls++
			return c.Object(p.member)
		case key == "functionResponse":
			p.responses++
			return c.Object(p.member)
		case key != "text" && key != "thought":
			p.signed = true
		}
		return nil
	})
	if p.calls+p.responses > 0 {
		m.parts = append(m.parts, p)
	}
	return err
}

// member reads a member of a call or a response.
func (f *function) member(key string, c *span.Cursor) error {
	switch key {
	case "id":
		return f.id.Read(c)
	case "name":
		return f.name.Read(c)
	case "args":
		return f.args.Read(c)
	case "response":
		return f.readResponse(c)
	case "parts":
		return c.Array(func(*span.Cursor) error {
			f.media++
			return nil
		})
	}
	return nil
}

// readResponse reads what a function returned, and whether that is an error.
func (f *function) readResponse(c *span.Cursor) error {
	if err := f.response.Read(c); err != nil {
		return err
	}
	return span.New(f.response.Raw).Object(func(key string, c *span.Cursor) error {
		f.failed = f.failed || key == "error" && c.Kind() == '"'
		return nil
	})
}

// clear reports whether it is clear which call a part has: its id may be missing, but not ambiguous.
func (f *function) clear() bool {
	return f.name.Once() && f.id.AtMostOnce() && (f.id.Raw == nil || f.id.IsText())
}

// addResponses adds the results of tools. One without an id answers the call at its place in the content before.
func (m *scannedContent) addResponses(f *wire.Facts) {
	nth := -1
	for _, p := range m.parts {
		nth += p.responses
		if p.responses != 1 || p.calls > 0 || p.signed || !p.clear() || !p.response.Once() || !p.response.IsObject() {
			continue
		}
		f.AddResult(wire.Content{
			Span: p.response.Span(), Call: p.id.Text(), Tool: p.name.Text(), Form: wire.FormValue, Error: p.failed,
			Other: p.media,
		}, nth)
	}
}

// addCalls adds the calls of tools, each in its place, and of those without a signature also the inputs.
func (m *scannedContent) addCalls(f *wire.Facts) {
	for _, p := range m.parts {
		if p.calls != 1 || p.responses > 0 || !p.clear() || !p.args.AtMostOnce() {
			for range p.calls {
				f.AddCall("", "", nil, nil)
			}
			continue
		}
		var place *wire.Span
		if !p.signed && p.args.IsObject() {
			at := p.args.Span()
			place = &at
		}
		f.AddCall(p.id.Text(), p.name.Text(), p.args.Raw, place)
	}
}
