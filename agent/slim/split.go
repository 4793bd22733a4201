package slim

import (
	"strings"

	"orchestrator/thread"
)

// Seam is where a part of a text begins: at a line.
type Seam struct {
	Begins string // what the line begins with
	Kind   thread.BaseKind
	Name   string
	// Named returns the part's name from its first line; nil for Name.
	Named func(line string) string
	// Ends is what the part's last line begins with, with %s for the part's name. Nothing before it ends the part: what a
	// person wrote may look like a part of the agent's own. If it is "" or not there, the part ends where the next begins.
	Ends string
	// Headed is set if the part ends before the next line that begins with "# ", too.
	Headed bool
}

// Split divides a text. The parts have every byte of it; what no seam begins keeps its kind and its name.
func Split(t thread.BaseText, seams []Seam) []thread.BaseText {
	var all []thread.BaseText
	kind, name, from := t.Kind, t.Name, 0
	cut := func(at int, next thread.BaseText) {
		if at > from {
			all = append(all, thread.BaseText{Kind: kind, Name: name, Text: t.Text[from:at]})
		}
		kind, name, from = next.Kind, next.Name, at
	}
	headed := false
	for at := 0; at < len(t.Text); {
		line, next := lineAt(t.Text, at)
		switch s, ok := seamAt(line, seams); {
		case ok:
			outside := thread.BaseText{Kind: kind, Name: name}
			part := thread.BaseText{Kind: s.Kind, Name: s.name(line)}
			cut(at, part)
			if end := s.end(t.Text, at, part.Name); end > 0 {
				next = end
				cut(end, outside)
			} else {
				headed = s.Headed
			}
		case headed && strings.HasPrefix(line, "# "):
			headed = false
			cut(at, t)
		}
		at = next
	}
	cut(len(t.Text), t)
	return all
}

// lineAt returns the line at a place, and where the next one begins.
func lineAt(text string, at int) (line string, next int) {
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		return text[at : at+end], at + end + 1
	}
	return text[at:], len(text)
}

// end returns where the text after a part begins, 0 if nothing ends it.
func (s Seam) end(text string, at int, name string) int {
	if s.Ends == "" {
		return 0
	}
	i := strings.Index(text[at:], "\n"+strings.ReplaceAll(s.Ends, "%s", name))
	if i < 0 {
		return 0
	}
	_, next := lineAt(text, at+i+1)
	return next
}

func seamAt(line string, seams []Seam) (Seam, bool) {
	for _, s := range seams {
		if strings.HasPrefix(line, s.Begins) {
			return s, true
		}
	}
	return Seam{}, false
}

func (s Seam) name(line string) string {
	if s.Named == nil {
		return s.Name
	}
	return s.Named(line)
}
