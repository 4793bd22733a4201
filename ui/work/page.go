package work

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// page is the dialog about one execution.
type page struct {
	*host.Host
	cfg   Config
	id    work.ID
	name  string
	known record.Page
	ready bool
	err   string
	busy  bool
	again bool
	pages pager.Pager
	width int // for which the lines were made; 0 if they are stale
}

// load asks for it.
func (p *page) load() tea.Cmd {
	if p.busy {
		p.again = true
		return nil
	}
	p.busy, p.again = true, false
	return host.Call(p.Host, host.Quick, api.WorkPage.On(p.Server, record.PageRequest{Execution: string(p.id)}),
		func(got record.Page, err error) tea.Cmd {
			p.busy, p.width, p.err = false, 0, ""
			if err != nil {
				p.err = err.Error()
			} else {
				p.known, p.ready = got, true
			}
			if p.again && p.Dialogs.Has(p) {
				return p.load()
			}
			return nil
		})
}

// Title returns the title.
func (p *page) Title() string { return p.name }

// Scope returns the scope of its keys.
func (p *page) Scope() intent.Scope { return intent.WorkPage }

// Size returns the size that it needs.
func (p *page) Size(w, h int) (int, int) { return min(w, 120), h }

// Hints returns the keys that do something.
func (p *page) Hints(layout.Box) []intent.Action {
	out := []intent.Action{intent.Down}
	if p.output() != nil {
		out = append([]intent.Action{intent.Open}, out...)
	}
	return append(out, intent.PageDown, intent.Cancel)
}

// Label returns the words for keys.
func (p *page) Label(a intent.Action) string {
	switch a {
	case intent.Down:
		return "next line"
	case intent.PageDown:
		return "page"
	case intent.Open:
		return "open the output"
	default:
		return ""
	}
}

// Handle handles an intent.
func (p *page) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Open:
		return p.open()
	default:
		p.pages.Handle(act)
		return nil
	}
}

// output returns the output under the cursor, nil if there is none.
func (p *page) output() *work.Output {
	if n := p.pages.Ref(); n > 0 && n <= len(p.known.Outputs) {
		return &p.known.Outputs[n-1]
	}
	return nil
}

// open opens the output under the cursor: its file, or its text.
func (p *page) open() dialog.Result {
	o := p.output()
	if o == nil {
		return nil
	}
	if o.Type == work.OutputDeliverable && o.Path != "" && filepath.IsLocal(filepath.FromSlash(o.Path)) {
		root := p.cfg.Root
		if p.known.Dir != "" {
			root = p.known.Dir
		}
		path := filepath.Join(root, filepath.FromSlash(o.Path))
		return host.Stay(func() tea.Cmd { return p.cfg.Edit(path) })
	}
	title, body := string(o.Type), textOf(*o)
	return host.Stay(func() tea.Cmd {
		p.Dialogs.Push(dialog.NewText(title, dialog.Plain(plain.Lines(body)...)))
		return nil
	})
}

// Draw draws it.
func (p *page) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if p.err != "" {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("not up to date: "+plain.Line(p.err), last.W))
	}
	if !p.ready {
		if p.err == "" {
			c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		}
		return
	}
	if p.width != b.W {
		p.width = b.W
		p.pages.Set(p.lines(b.W - 1))
	}
	p.pages.Draw(c, b, th, true)
}

// lines lays the page out.
func (p *page) lines(w int) []styled.Line {
	k := p.known
	out := p.facts(w)
	text := func(title, text string, more int) {
		if text == "" {
			return
		}
		out = append(out, styled.Line{}, styled.Of(theme.Heading, title))
		out = append(out, styled.WrapAll(w, theme.Text, plain.Lines(text))...)
		if more > 0 {
			out = append(out, styled.Of(theme.Muted, "… "+thread.Bytes(int64(more))+" more; `orchestrator exec logs "+p.name+"` has all of it"))
		}
	}
	if k.Row.State.Final() && k.Row.State != work.Completed {
		text("why", k.Reason, 0)
	}
	if len(k.Outputs) > 0 {
		out = append(out, styled.Line{}, styled.Of(theme.Heading, "outputs"))
	}
	for i, o := range k.Outputs {
		line := outputLine(o, w)
		line.Ref = i + 1
		out = append(out, line)
	}
	text("said", k.Said, k.SaidMore)
	out = append(out, p.context(w)...)
	text("given", k.Given, k.GivenMore)
	if len(k.Inside) > 0 {
		out = append(out, styled.Line{}, styled.Of(theme.Heading, "sub-agents that it started"))
	}
	for _, r := range k.Inside {
		l := lookOf(r, false)
		out = append(out, styled.Line{Spans: []styled.Span{
			{Text: l.glyph + " ", Tok: l.tok}, {Text: plain.Cut(plain.Line(r.Execution+"  "+r.AgentType+"  "+l.word+"  "+r.Money()+"  "+r.Scope), w-2)},
		}})
	}
	return out
}

// facts are what is known of it in a word or some.
func (p *page) facts(w int) (out []styled.Line) {
	r := p.known.Row
	const column = 12
	add := func(label, value string) {
		if value = plain.Line(value); value == "" {
			return
		}
		lines := styled.Wrap(w-column, styled.Span{Text: value})
		out = append(out, styled.Indent(lines, styled.Span{Text: fmt.Sprintf("%-*s", column, label), Tok: theme.Muted},
			styled.Span{Text: strings.Repeat(" ", column)})...)
	}
	l := lookOf(r, false)
	out = append(out, styled.Line{Spans: []styled.Span{{Text: l.glyph + " " + l.word, Tok: l.tok}, {Text: "  " + plain.Cut(plain.Line(r.AgentType+"  "+agentOf(r)), w-16), Tok: theme.Muted}}})
	if r.Origin == work.OriginHand {
		add("", "written down by hand: what stands here is what somebody says")
	}
	if !r.State.Final() {
		add("", p.known.Reason)
	}
	add("scope", r.Scope)
	if r.Session != "" {
		add("in", strings.TrimSuffix(r.Session+", "+r.Task, ", "))
	}
	if !r.Deployed.IsZero() {
		when := r.Deployed.Local().Format("Jan 2 15:04:05")
		if r.Seconds > 0 {
			when += ", took " + thread.Elapsed(r.Took())
		}
		add("began", when)
	}
	if r.In+r.Out > 0 {
		add("tokens", fmt.Sprintf("%s read, %s of them cached, %s written; %s", thread.Tokens(r.In), thread.Tokens(r.Cached), thread.Tokens(r.Out), r.Money()))
	}
	if r.Context > 0 {
		add("given", thread.Tokens(r.Context)+" tokens before it began")
	}
	add("bundle", r.Bundle)
	return out
}

// context lists what it was given, and how the bundle could be smaller.
func (p *page) context(w int) (out []styled.Line) {
	k := p.known
	explained := map[string]bundle.ExplainedItem{}
	if k.Explained != nil {
		for _, it := range k.Explained.Items {
			explained[it.Source+"\x00"+strings.Join(it.Sections, "\x00")] = it
		}
	}
	if len(k.Allocations) > 0 {
		out = append(out, styled.Line{}, styled.Of(theme.Heading, "context"))
	}
	for _, a := range k.Allocations {
		tok, word := theme.Muted, "sent"
		switch {
		case !a.Included:
			word = "not sent"
		case a.Claimed:
			word = "as claimed"
		}
		it, known := explained[a.Source+"\x00"+strings.Join(a.Sections, "\x00")]
		verdict := ""
		if known {
			verdict = string(it.Verdict)
			if it.Verdict != bundle.Keep {
				tok = theme.Warn
			}
		}
		source := a.Source
		if len(a.Sections) > 0 {
			source += " (" + strings.Join(a.Sections, ", ") + ")"
		}
		left := fmt.Sprintf("%7s  %-8s  ", thread.Tokens(a.Tokens), verdict)
		right := "  " + strings.TrimSpace(string(a.Priority)+" "+string(a.Type)+", "+word)
		name := plain.Cut(plain.Line(source), max(w-plain.Width(left)-plain.Width(right), 8))
		out = append(out, styled.Line{Spans: []styled.Span{{Text: left, Tok: tok}, {Text: name}, {Text: right, Tok: theme.Muted}}})
		if it.Advice != "" {
			out = append(out, styled.Indent(styled.WrapAll(w-19, theme.Warn, []string{plain.Line(it.Advice)}), styled.Span{Text: strings.Repeat(" ", 19)}, styled.Span{Text: strings.Repeat(" ", 19)})...)
		}
	}
	return out
}

// outputLine is an output on a line.
func outputLine(o work.Output, w int) styled.Line {
	tok := theme.Text
	if o.Type == work.OutputError {
		tok = theme.Bad
	}
	claimed := ""
	if o.Metadata.Claimed {
		claimed = "  claimed"
	}
	word := strings.TrimSuffix(string(o.Type), "_result")
	if o.Version > 1 {
		word += fmt.Sprintf(" v%d", o.Version)
	}
	return styled.Line{Spans: []styled.Span{
		{Text: fmt.Sprintf("%-15s ", word), Tok: theme.Muted},
		{Text: plain.Cut(plain.First(textOf(o)), max(w-16-len(claimed), 8)), Tok: tok}, {Text: claimed, Tok: theme.Warn},
	}}
}

// textOf is an output in words.
func textOf(o work.Output) string {
	switch o.Type {
	case work.OutputDeliverable:
		var d work.Deliverable
		if json.Unmarshal(o.Content, &d) != nil {
			return o.Path
		}
		text := d.Path
		if d.What != "" {
			text += ", " + string(d.What)
		} else {
			text += fmt.Sprintf("  +%d ~%d \u2212%d", d.Added, d.Modified, d.Deleted)
		}
		if d.Validation != nil {
			text += "  " + saysOf(*d.Validation)
		}
		if d.Claimed != nil {
			text += "  said: " + saysOf(*d.Claimed)
		}
		return text
	case work.OutputValidation:
		var v work.Validation
		if json.Unmarshal(o.Content, &v) != nil {
			return string(o.Content)
		}
		return strings.TrimSpace(saysOf(v) + "\n" + v.Output)
	default:
		var text string
		if json.Unmarshal(o.Content, &text) != nil {
			return string(o.Content)
		}
		return text
	}
}

// saysOf is what checks said.
func saysOf(v work.Validation) string {
	var parts []string
	for _, c := range []struct {
		name    string
		verdict work.Verdict
	}{{"format", v.Format}, {"lint", v.Lint}, {"types", v.Types}, {"tests", v.Tests}} {
		if c.verdict != "" {
			parts = append(parts, c.name+" "+string(c.verdict))
		}
	}
	if v.Coverage != nil {
		parts = append(parts, fmt.Sprintf("coverage %.0f %%", *v.Coverage))
	}
	return strings.Join(parts, ", ")
}
