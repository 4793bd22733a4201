package masking

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// entry is what is shown of a content. It holds nothing of the body.
type entry struct {
	result policy.Result
	size   int64
	error  bool
	images bool
}

// picture is what fills a request, as far as it is shown to people.
type picture struct {
	entries  []entry
	system   int64
	tools    map[string]int64 // by server, "" for the agent's own
	toolsN   map[string]int
	messages int64
	items    int
}

// picture describes a request for people. It is made beside the stream: tools are read again for it.
func (r *request) picture(m measured) picture {
	p := picture{tools: map[string]int64{}, toolsN: map[string]int{}, items: len(r.scan.Items)}
	factor, _, _ := r.masker.cfg.Calibration.Factor(r.scan.Request.Model, "")
	of := func(bytes int) int64 { return int64(float64(r.masker.cfg.Counts.Estimate(bytes)) * factor) }
	contents := int64(0)
	for i, c := range r.scan.Contents {
		p.entries = append(p.entries, entry{result: m.results[i], size: m.sizes[i], error: c.Error, images: c.Other > 0})
		contents += m.sizes[i]
	}
	p.system = of(len(r.scan.Request.System))
	var tools int64
	for _, tool := range toolsOf(r.outgoing.Call.Body) {
		n := of(len(tool.raw))
		p.tools[tool.server()] += n
		p.toolsN[tool.server()]++
		tools += n
	}
	p.messages = max(0, m.estimate-contents-p.system-tools)
	return p
}

// tool is a tool that a request offers.
type tool struct {
	name string
	raw  json.RawMessage
}

// server returns the name of the MCP server that a tool is of, "" for the agent's own tools. Agents call such a tool
// mcp__server__tool or server__tool.
func (t tool) server() string {
	name, isMCP := strings.CutPrefix(t.name, "mcp__")
	server, _, ok := strings.Cut(name, "__")
	if isMCP || ok {
		return server
	}
	return ""
}

// toolsOf reads the tools of a request in any of the formats: a list of objects with a name, perhaps below "function"
// or in "functionDeclarations".
func toolsOf(body []byte) []tool {
	var request struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(body, &request) != nil {
		return nil
	}
	var out []tool
	for _, raw := range request.Tools {
		var t struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Declarations []json.RawMessage `json:"functionDeclarations"`
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		for _, d := range t.Declarations {
			var named struct {
				Name string `json:"name"`
			}
			_ = json.Unmarshal(d, &named) // one without a name is counted all the same
			out = append(out, tool{named.Name, d})
		}
		if len(t.Declarations) == 0 {
			out = append(out, tool{cmp.Or(t.Name, t.Function.Name), raw})
		}
	}
	return out
}

// Report says what fills a thread's context.
func (m *Masker) Report(id thread.ID) (thread.ContextReport, error) {
	c, err := m.conversation(id)
	if err != nil {
		return thread.ContextReport{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	settings := m.cfg.Settings(id, c.login)
	r := thread.ContextReport{Thread: id, Model: c.model, Window: c.window, Rereads: c.rereads}
	r.Mode, r.Why = c.mode(settings)
	if c.scan == nil {
		r.Reason = "no request since the server started"
		return r, nil
	}
	r.Tokens, r.Masked = c.context(c.last.estimate), c.last.masked
	_, r.Margin, _ = m.cfg.Calibration.Factor(c.model, "")
	r.Forecast, r.Reason = c.decision.Batch.Forecast(m.inputPrice(c.model)), string(c.decision.Reason)
	r.Parts = c.picture.parts()
	for _, e := range c.picture.entries {
		r.Results = append(r.Results, c.shown(e))
	}
	return r, nil
}

// mode returns the mode in force, and why it is.
func (c *conversation) mode(s policy.Settings) (thread.MaskMode, string) {
	switch {
	case c.set.Mode() != "":
		return thread.MaskMode(c.set.Mode()), "set for this thread"
	case c.login && s.Mode == policy.ModeObserve:
		return thread.MaskMode(s.Mode), "the agent uses a subscription login"
	default:
		return thread.MaskMode(s.Mode), "as configured"
	}
}

// shown describes a content for people.
func (c *conversation) shown(e entry) thread.ContextResult {
	res := e.result
	out := thread.ContextResult{
		ID: string(res.ID), Tool: res.Tool, File: cmp.Or(res.Reads, res.Writes), Input: res.Kind == policy.KindInput,
		Tokens: res.Tokens, Turn: res.Request, Pinned: c.set.Pinned(res.ID),
	}
	if mask, ok := c.set.Mask(res.ID); ok && !out.Pinned {
		out.Masked, out.Token, out.Path = true, mask.Token, mask.File
	}
	switch {
	case out.Masked:
	case out.Pinned:
		out.Kept = "pinned"
	case res.Error:
		out.Kept = "an error"
	case res.Tokens < c.settings.MinResult:
		out.Kept = "small"
	case c.whole[res.ID]:
		out.Kept = "would not get shorter"
	case res.Kind != policy.KindOutput && res.Kind != policy.KindInput:
		out.Kept = string(res.Kind)
	}
	return out
}

// parts returns what fills the request, largest first.
func (p picture) parts() []thread.ContextPart {
	out := []thread.ContextPart{
		{Kind: "system", Tokens: p.system, Count: 1},
		{Kind: "messages", Tokens: p.messages, Count: p.items},
	}
	for server, n := range p.tools {
		out = append(out, thread.ContextPart{Kind: "tools", Name: server, Tokens: n, Count: p.toolsN[server]})
	}
	byTool := map[thread.ContextPart]*thread.ContextPart{}
	for _, e := range p.entries {
		key := thread.ContextPart{Kind: "results", Name: e.result.Tool}
		if e.result.Kind == policy.KindInput {
			key.Kind = "inputs"
		}
		part := byTool[key]
		if part == nil {
			part = &thread.ContextPart{Kind: key.Kind, Name: key.Name}
			byTool[key] = part
		}
		part.Tokens += e.size
		part.Masked += e.result.Tokens - e.size
		part.Count++
	}
	for _, part := range byTool {
		out = append(out, *part)
	}
	out = slices.DeleteFunc(out, func(p thread.ContextPart) bool { return p.Tokens == 0 && p.Masked == 0 })
	slices.SortFunc(out, func(a, b thread.ContextPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}
