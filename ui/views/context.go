package views

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	contextview "orchestrator/ui/context"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// mostContent limits how much of a masked result is read to be shown, and mostLines how many lines of it are laid out.
const (
	mostContent = 256 << 10
	mostLines   = 2000
)

// contexts has the context view: it loads reports and makes changes.
type contexts struct {
	*host.Host
	view *contextview.Model
}

// follow loads the context again if it is out of date.
func (f *contexts) follow() tea.Cmd {
	s := f.Threads.Selected()
	if s == nil || f.view.Thread() != s.ID {
		return nil
	}
	q, want := f.view.Want(contextview.StateOf(s))
	if !want {
		return nil
	}
	return host.Call(f.Host, host.Quick, api.Context.On(f.Server, api.Ref{Thread: string(s.ID)}),
		func(r thread.ContextReport, err error) tea.Cmd {
			f.view.Fill(q, r, err)
			return nil
		})
}

// act handles an action, and reports whether it means something here.
func (f *contexts) act(a intent.Action) (tea.Cmd, bool) {
	switch a {
	case intent.Leave:
		return nil, f.view.Close()
	case intent.About:
		f.view.About()
		return nil, true
	case intent.Why:
		return f.explain()
	case intent.Mask, intent.PinResult, intent.MaskAll, intent.MaskMode, intent.Summarise, intent.Open:
		return f.onResults(a), true
	default:
		return nil, f.view.Handle(a)
	}
}

// onResults handles an action for the results, if they are on the screen, or for how much is masked.
func (f *contexts) onResults(a intent.Action) tea.Cmd {
	s := f.Threads.Selected()
	if s == nil || f.view.Thread() != s.ID {
		return nil
	}
	if a == intent.Open {
		if cmd, ok := f.openBase(s); ok {
			return cmd
		}
	}
	r := f.view.Selected() // nil if they are not on the screen
	switch {
	case a == intent.MaskMode && f.view.Known():
		f.openModes(s)
		return nil
	case a == intent.MaskAll && f.view.Listed():
		return f.askMaskAll(s)
	case a == intent.Summarise && f.view.Known():
		return f.summaries().ask(s)
	case r == nil || a == intent.MaskAll || a == intent.MaskMode || a == intent.Summarise:
		return nil
	case a == intent.Mask:
		return f.mask(s.ID, r)
	case a == intent.PinResult:
		return f.pin(s.ID, r)
	default:
		return f.openResult(r)
	}
}

// openBase opens what is under the cursor if it is of what the agent sends before a word is said: all of it shows or hides
// its parts, a part tells about itself.
func (f *contexts) openBase(s *thread.Status) (tea.Cmd, bool) {
	if f.view.Fold() {
		return nil, true
	}
	p := f.view.Part()
	if p == nil {
		return nil, false
	}
	facts := partFacts(p, f.view.Report().Base)
	d := dialog.NewText(plain.Cut(plain.Line(p.Says()), 60), append(facts, dialog.Line{}, dialog.Line{Text: "…", Tok: theme.Muted}))
	f.Dialogs.Push(d)
	return host.Call(f.Host, host.Quick, api.Base.On(f.Server, thread.BaseQuery{Thread: string(s.ID)}),
		func(r thread.BaseReport, err error) tea.Cmd {
			d.Set(slices.Concat(facts, []dialog.Line{{}}, leftOutBy(p, r, err)))
			return nil
		}), true
}

// summaries returns the dialog for summaries.
func (f *contexts) summaries() *summaries {
	return &summaries{f.Host, f.view, f.change, f.follow}
}

// name returns what names a result in a change.
func name(r *thread.ContextResult) []string {
	if r.ID == "" {
		return []string{string(r.Token)}
	}
	return []string{r.ID}
}

// written says that a change has the next request send a part of the context anew, past the provider's cache.
func (f *contexts) written(tokens int64) string {
	return "The next request re-sends " + f.priced(tokens)
}

// priced returns how many tokens, and about what they cost where that is known.
func (f *contexts) priced(tokens int64) string {
	said := thread.Tokens(max(tokens, 0)) + " tokens"
	if usd := f.view.Report().SentUSD; usd > 0 && tokens > 0 {
		said += " (≈ " + thread.USD(usd*float64(tokens)) + ")"
	}
	return said
}

// mask masks a result, or unmasks it.
func (f *contexts) mask(id thread.ID, r *thread.ContextResult) tea.Cmd {
	later := f.view.Later(r)
	switch {
	case r.Masked:
		return f.change("unmask", "Unmasked. "+f.written(later+max(r.Tokens, 0)),
			thread.ContextChange{Thread: string(id), Unmask: name(r)})
	case r.Pinned: // asking for it is more recent than the pin
		return f.change("mask", "Unpinned and masked. "+f.written(later),
			thread.ContextChange{Thread: string(id), Mask: name(r), Unpin: name(r)})
	case r.Kept != "":
		return f.Notify(thread.LevelWarn, "It cannot be masked: "+plain.Cut(plain.Line(r.Kept), 200))
	default:
		return f.change("mask", "Masked. "+f.written(later),
			thread.ContextChange{Thread: string(id), Mask: name(r)})
	}
}

// pin pins a result, or unpins it.
func (f *contexts) pin(id thread.ID, r *thread.ContextResult) tea.Cmd {
	if r.Pinned {
		return f.change("unpin", "Unpinned: it may be masked again",
			thread.ContextChange{Thread: string(id), Unpin: name(r)})
	}
	done := "Pinned: it is never masked"
	if r.Masked {
		done = "Pinned: once unmasked it is never masked again"
	}
	return f.change("pin", done, thread.ContextChange{Thread: string(id), Pin: name(r)})
}

// change makes a change, shows the report that follows, and says what was done.
func (f *contexts) change(task, done string, c thread.ContextChange) tea.Cmd {
	q := f.view.Change()
	return host.Call(f.Host, host.Quick, api.ChangeContext.On(f.Server, c),
		func(r thread.ContextReport, err error) tea.Cmd {
			f.view.Fill(q, r, err)
			if err != nil {
				return f.Fail(task, err)
			}
			return f.Notify(thread.LevelInfo, done)
		})
}

// askMaskAll asks whether to mask all that can be masked, and says what that means.
func (f *contexts) askMaskAll(s *thread.Status) tea.Cmd {
	n, tokens := f.view.Maskable()
	if n == 0 {
		return f.Notify(thread.LevelInfo, "Nothing can be masked now")
	}
	id, name, r := s.ID, f.Name(s.ID), f.view.Report()
	what := plain.Count(n, "result")
	body := dialog.Plain(what + " with " + thread.Tokens(tokens) + " tokens can be masked now. Their content is kept: " +
		"the agent can read it again, and you can unmask it.")
	for _, l := range []dialog.Line{{Text: r.Forecast}, {Text: r.Reason, Tok: theme.Muted}} {
		if l.Text != "" {
			body = append(body, dialog.Line{}, l)
		}
	}
	f.Dialogs.Push(dialog.NewAsk("mask "+what+" of "+name+"?", body, dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Mask", Result: host.Do(func() tea.Cmd {
			return f.change("mask", what+" masked from the next request on",
				thread.ContextChange{Thread: string(id), Mask: []string{"all"}})
		})}).Until(func() string { return f.Gone(id, name) }))
	return nil
}

// modes are the modes to choose from, with what they do.
var modes = [...]struct {
	mode       thread.MaskMode
	label, say string
}{
	{thread.MaskSafe, "Safe", "old results of tools, but not of files that are being worked on"},
	{thread.MaskLean, "Lean", "those files too"},
	{thread.MaskObserve, "Observe", "nothing is masked, only counted"},
	{thread.MaskOff, "Off", "passed on unread"},
	{thread.MaskDefault, "Default", "as the project's settings say"},
}

// openModes asks how much is masked of a thread's conversation.
func (f *contexts) openModes(s *thread.Status) {
	id, name := s.ID, f.Name(s.ID)
	now := f.view.Report()
	body := []dialog.Line{{Text: "Now: " + string(now.Mode)}, {}}
	if now.Why != "" {
		body[0].Text += ", " + now.Why
	}
	choices := []dialog.Choice{dialog.Cancel("Cancel")}
	for _, m := range modes {
		body = append(body, dialog.Line{Text: m.label + ": " + m.say, Tok: theme.Muted})
		mode, done := m.mode, strings.ToLower(m.label)
		choices = append(choices, dialog.Choice{Label: m.label, Result: host.Do(func() tea.Cmd {
			return f.change("set the mode", "Masking of "+f.Name(id)+": "+done+", from the next request on",
				thread.ContextChange{Thread: string(id), Mode: &mode})
		})})
	}
	f.Dialogs.Push(dialog.NewAsk("masking for "+name, body, choices...).
		Until(func() string { return f.Gone(id, name) }))
}

// openResult shows what is known of a result, and the content of a masked one.
func (f *contexts) openResult(r *thread.ContextResult) tea.Cmd {
	facts := factsOf(r)
	d := dialog.NewText(plain.Cut(resultName(r), 60), facts)
	f.Dialogs.Push(d)
	if r.Token == "" {
		return nil
	}
	d.Set(append(facts, dialog.Line{}, dialog.Line{Text: "…", Tok: theme.Muted}))
	return host.Call(f.Host, host.Quick, f.content(string(r.Token)),
		func(data []byte, err error) tea.Cmd {
			d.Set(append(facts[:len(facts):len(facts)], contentOf(data, err)...))
			return nil
		})
}

// content returns a function that reads the beginning of staged data.
func (f *contexts) content(token string) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		data, err := api.Retrieve.Open(ctx, f.Server, api.RetrieveRequest{Token: token})
		if err != nil {
			return nil, err
		}
		defer data.Close()
		got, err := io.ReadAll(io.LimitReader(data, mostContent))
		if err != nil {
			return nil, fmt.Errorf("retrieve %s: %w", token, err)
		}
		return got, nil
	}
}

// explain tells why the selected result is masked, kept or sent, and what changing that costs.
func (f *contexts) explain() (tea.Cmd, bool) {
	s, r := f.Threads.Selected(), f.view.Selected()
	if s == nil || r == nil || f.view.Thread() != s.ID {
		return nil, false // then the thread's state is explained
	}
	f.Dialogs.Push(dialog.NewText("why", f.explained(r)))
	return nil, true
}

// explained returns the explanation.
func (f *contexts) explained(r *thread.ContextResult) []dialog.Line {
	said := r.Says()
	out := []dialog.Line{{Text: resultName(r), Tok: theme.Muted}, {Text: strings.ToUpper(said[:1]) + said[1:], Tok: theme.Strong}, {}}
	add := func(text string) { out = append(out, dialog.Line{Text: text}) }
	add(fmt.Sprintf("It has %s tokens and is there since request %d.", thread.Tokens(max(r.Tokens, 0)), r.Turn))
	later := f.view.Later(r)
	switch {
	case r.Masked:
		add(fmt.Sprintf("Masked since request %d: each request after it is so much shorter. The agent can read it again.", r.MaskedIn))
		add("Unmasking it: the next request re-sends " + f.priced(later+max(r.Tokens, 0)) + ".")
	case r.Pinned:
		add("You want it sent. Unpinned it may be masked again.")
	case r.Kept == "":
		add("Masking it now: the next request re-sends " + f.priced(later) + ".")
	}
	if rules := f.rulesFor(r.Tool); len(rules) > 0 {
		out = append(out, dialog.Line{}, dialog.Line{Text: "Your rules for " + plain.Cut(plain.Line(r.Tool), 60) + " (all that match apply):"})
		for _, rule := range rules {
			out = append(out, dialog.Line{Text: "  " + plain.Line(rule.Says())})
		}
	}
	return out
}

// rulesFor returns the rules that are about a tool.
func (f *contexts) rulesFor(tool string) []thread.ContextRule {
	var out []thread.ContextRule
	for _, rule := range f.view.Report().Rules {
		if rule.Matches(tool) {
			out = append(out, rule)
		}
	}
	return out
}

// resultName returns what a result is of.
func resultName(r *thread.ContextResult) string {
	what := "result of " + r.Tool
	if r.Input {
		what = "input of " + r.Tool
	}
	if r.File != "" {
		what += ", " + r.File
	}
	return plain.Cut(plain.Line(what), 200)
}

// factsOf lists what is known of a result.
func factsOf(r *thread.ContextResult) []dialog.Line {
	var out []dialog.Line
	add := func(label, value string) {
		if value != "" {
			out = append(out, dialog.Line{Text: fmt.Sprintf("%-8s%s", label, value)})
		}
	}
	add("file", r.File)
	add("tokens", fmt.Sprint(r.Tokens))
	add("since", fmt.Sprintf("request %d", r.Turn))
	add("state", r.Says())
	add("token", string(r.Token))
	add("path", r.Path)
	return out
}

// contentOf returns the lines of a masked result's content.
func contentOf(data []byte, err error) []dialog.Line {
	if err != nil {
		return []dialog.Line{{}, {Text: "Its content could not be read: " + err.Error(), Tok: theme.Bad}}
	}
	lines := plain.Lines(strings.TrimSuffix(string(data), "\n"))
	more := len(data) >= mostContent
	if len(lines) > mostLines {
		lines, more = lines[:mostLines], true
	}
	out := make([]dialog.Line, 0, len(lines)+2)
	out = append(out, dialog.Line{})
	for _, l := range lines {
		out = append(out, dialog.Line{Text: l})
	}
	if more {
		out = append(out, dialog.Line{Text: "… there is more: see its path, or `orchestrator retrieve`", Tok: theme.Muted})
	}
	return out
}
