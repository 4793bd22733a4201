package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TemplateName is the name under which the built-in template is known, where there is no file of that name.
const TemplateName = "briefing-template.md"

// Template is the built-in template. What several agents are given alike comes first and has nothing in it that differs
// between them, so that providers can serve it from their cache.
const Template = `# Context

{{range .Shared}}## {{title .}}

{{fence .Content}}
{{end}}{{range .Rest}}## {{title .}}

{{fence .Content}}
{{end}}# Task
{{if .AgentType}}
You are: {{.AgentType}}
{{end}}
{{.Scope}}
`

// MostBrief is how many bytes a briefing may have.
const MostBrief = 16 << 20

// Part is an item of a bundle in a template, with its content.
type Part struct {
	Type       work.ItemType
	Source     string
	Priority   work.Priority
	Tokens     int64
	Sections   []string
	SharedWith []string
	Content    string
}

func partOf(it work.BundleItem, content string) Part {
	return Part{it.Type, it.Source, it.Priority, it.Tokens, it.Sections, it.SharedWith, content}
}

// Briefing is what a template is given.
type Briefing struct {
	// ID and Agent are those of the bundle; a template that names them before the shared items cannot be served from a cache.
	ID, Agent, Model, AgentType, Scope string
	// Items are all, Shared those of type shared_context, in an order that is the same for all who share them, and Rest the
	// others in theirs.
	Items, Shared, Rest []Part
	Total, Remaining    int64
}

// Brief returns what an agent is given of a bundle, by a template; "" stands for the built-in one. pieces has the content of
// its items by their hashes.
func Brief(k work.KeptBundle, pieces map[string][]byte, text string) (string, error) {
	data := Briefing{
		ID: k.Bundle.ID, Agent: k.Agent, Model: k.Model, AgentType: k.Bundle.AgentType, Scope: k.Bundle.Scope,
		Total: k.Bundle.Total, Remaining: k.Bundle.Remaining,
	}
	for i, it := range k.Bundle.Items {
		content, ok := []byte(nil), false
		if i < len(k.Pieces) && k.Pieces[i] != "" {
			content, ok = pieces[k.Pieces[i]]
		}
		if !ok {
			return "", thread.Kindf(thread.ErrNotFound, "%s: its content is not known", it.Source)
		}
		data.add(partOf(it, string(content)))
	}
	return render(data, text)
}

// Frame returns what the built-in template adds to the content of a bundle's items.
func Frame(b work.Bundle) string {
	data := Briefing{AgentType: b.AgentType, Scope: b.Scope}
	for _, it := range b.Items {
		data.add(partOf(it, ""))
	}
	text, err := render(data, "")
	if err != nil { // the built-in template does not fail
		return b.Scope
	}
	return text
}

func (d *Briefing) add(p Part) {
	d.Items = append(d.Items, p)
	if p.Type == work.ItemShared {
		d.Shared = append(d.Shared, p)
		return
	}
	d.Rest = append(d.Rest, p)
}

func render(data Briefing, text string) (string, error) {
	slices.SortStableFunc(data.Shared, func(a, b Part) int {
		return cmp.Or(cmp.Compare(len(b.SharedWith), len(a.SharedWith)), byName(a.Source, b.Source, a.Sections, b.Sections))
	})
	t, err := template.New("briefing").Option("missingkey=error").Funcs(functions()).Parse(cmp.Or(text, Template))
	if err != nil {
		return "", thread.Kindf(thread.ErrInvalid, "the template: %w", err)
	}
	var out bounded
	if err := t.Execute(&out, data); err != nil {
		return "", thread.Kindf(thread.ErrInvalid, "the template: %w", err)
	}
	return out.text.String(), nil
}

// byName is the order of shared items that as many bundles have: those that most have come first, so that as many as
// possible begin alike.
func byName(a, b string, as, bs []string) int {
	return cmp.Or(cmp.Compare(a, b), slices.Compare(as, bs))
}

// functions are those of templates, beside Go's own.
func functions() template.FuncMap {
	return template.FuncMap{
		"title": title, "fence": fence, "join": func(sep string, list []string) string { return strings.Join(list, sep) },
		"trim": strings.TrimSpace, "lower": strings.ToLower, "upper": strings.ToUpper,
	}
}

// title names an item: its source, and the sections that it has of it.
func title(p Part) string {
	if len(p.Sections) == 0 {
		return p.Source
	}
	return p.Source + ": " + strings.Join(p.Sections, ", ")
}

// fence returns a text as a block of code that it cannot end by itself.
func fence(text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("%s\n%s%s\n", marks, text, marks)
}

// bounded is a text that does not grow beyond MostBrief.
type bounded struct{ text bytes.Buffer }

var errLong = errors.New("it makes more than 16 MB")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > MostBrief {
		return 0, errLong
	}
	return b.text.Write(p)
}
