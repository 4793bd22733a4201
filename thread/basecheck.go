package thread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// FirstRequest is the first request of an agent's conversation after a start of its process, as the agent sent it.
type FirstRequest struct {
	Model string
	// Texts are all that is in it: a BaseTool for each definition of a tool, with its name, then the other texts, as
	// Slimmer.BaseParts tells them apart.
	Texts []BaseText
}

// BaseStart is how a process was started whose first request is checked.
type BaseStart struct {
	Levers Levers
	// Left are the levers that it leaves out.
	Left []string
	// Resumed is set if the conversation was there before: what it was told then stays in it, whatever is left out now.
	Resumed bool
}

// BaseSize is how large the base was that a version of a CLI sent with some levers left out.
type BaseSize struct {
	Model string   `json:"model,omitempty"`
	Left  []string `json:"left,omitempty"`
	// Maker are the tokens of what the CLI's maker writes: system prompt, definitions of tools, lists of skills and
	// agents. What the person and the folder bring is another in each thread. Tools are those of the definitions.
	Maker int64 `json:"maker"`
	Tools int64 `json:"tools"`
}

// BaseFinding is something in a first request that is not as the levers say.
type BaseFinding struct {
	// Levers did not do what they are for.
	Levers []string
	What   string // "Workflow is still there"
}

// Size counts the part of a first request that is the same wherever the agent is started in this way.
func (r FirstRequest) Size(left []string, count func(string) int) BaseSize {
	s := BaseSize{Model: r.Model, Left: slices.Clone(left)}
	for _, t := range r.Texts {
		switch t.Kind {
		case BaseTool:
			n := int64(count(t.Text))
			s.Tools += n
			s.Maker += n
		case BaseSystem, BaseSkills, BaseAgents:
			s.Maker += int64(count(t.Text))
		default:
		}
	}
	return s
}

// Check compares a first request with what was left out: a tool that should be gone and is there, or one that is gone
// and that the rest of the request names. It has at most one finding for a lever.
func (s BaseStart) Check(r FirstRequest) []BaseFinding {
	offered := map[string]bool{}
	for _, t := range r.Texts {
		if t.Kind == BaseTool {
			offered[t.Name] = true
		}
	}
	if len(offered) == 0 {
		return nil // it has not offered tools yet: nothing is known
	}
	var all []BaseFinding
	for _, lever := range s.Levers.Named(s.Left) {
		if what := s.look(lever, r, offered); what != "" {
			all = append(all, BaseFinding{Levers: []string{lever.Name}, What: what})
		}
	}
	return all
}

// look returns what is wrong with a lever, "" if nothing is.
func (s BaseStart) look(lever Lever, r FirstRequest, offered map[string]bool) string {
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		if lever.LeavesOut(name) {
			return name + " is still there"
		}
	}
	if s.Resumed {
		return ""
	}
	for _, t := range r.Texts {
		switch t.Kind {
		case BaseDeferred:
			for _, w := range identifiers(t.Text) {
				if lever.LeavesOut(w.name) {
					return w.name + " can still be loaded"
				}
			}
		case BaseSystem, BaseTool, BaseSkills, BaseAgents, BaseEnvironment:
			for _, w := range identifiers(t.Text) {
				if !offered[w.name] && !slices.Contains(lever.Named, w.name) && w.names(t.Text) && lever.LeavesOut(w.name) {
					return w.name + " is gone, but " + t.where() + " still names it"
				}
			}
		default: // the person's own
		}
	}
	return ""
}

// where says where a text stands, for people.
func (t BaseText) where() string {
	switch t.Kind {
	case BaseTool:
		return "the tool " + t.Name
	case BaseSkills:
		return "the list of skills"
	case BaseAgents:
		return "the list of agents"
	default:
		return "the agent's prompt"
	}
}

// The bounds on how much the size of a base may differ by chance: a date, a path, a branch.
const (
	sizeNoise  = 200 // tokens
	savesLeast = 500 // tokens that levers should save together for less to be noticed
	savesShare = 4   // the part of them that they save at least: a quarter
)

// Grown compares the size of a base with others of the same version. It has a finding if leaving out more made the base
// larger, or saved much less than was measured.
func (s BaseStart) Grown(now BaseSize, known []BaseSize) []BaseFinding {
	for _, k := range known {
		if k.Model != now.Model || len(k.Left) >= len(s.Left) || !contains(s.Left, k.Left) {
			continue
		}
		was, is := k.Maker, now.Maker
		if s.Resumed {
			was, is = k.Tools, now.Tools
		}
		if was == 0 {
			continue
		}
		more := s.Levers.Named(slices.DeleteFunc(slices.Clone(s.Left), func(name string) bool { return slices.Contains(k.Left, name) }))
		saves, unknown := 0, len(more) == 0
		for _, lever := range more {
			saves += lever.Saves
			unknown = unknown || lever.Saves == 0
		}
		switch {
		case is > was+sizeNoise+was/50:
			return []BaseFinding{{Levers: unproven(more), What: fmt.Sprintf("the base grew from %s to %s tokens", Tokens(was), Tokens(is))}}
		case !unknown && !s.Resumed && saves >= savesLeast && (was-is)*savesShare < int64(saves):
			return []BaseFinding{{Levers: unproven(more), What: fmt.Sprintf(
				"the base is only %s tokens smaller, and not %s", Tokens(max(0, was-is)), Tokens(int64(saves)))}}
		}
	}
	return nil
}

// unproven returns the names of the levers of which no tool that is gone proves that they work, of all if that is true of
// none.
func unproven(levers []Lever) []string {
	var all, some []string
	for _, l := range levers {
		all = append(all, l.Name)
		if len(l.Tools) == 0 {
			some = append(some, l.Name)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// contains reports whether all has each of some.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// word is an identifier in a text.
type word struct {
	name     string
	from, to int
}

// identifiers returns the words of a text that can be the name of a tool.
func identifiers(text string) []word {
	var all []word
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	from := -1
	for i, r := range text + " " {
		switch {
		case part(r) && from < 0:
			from = i
		case !part(r) && from >= 0:
			all = append(all, word{text[from:i], from, i})
			from = -1
		}
	}
	return all
}

// names reports whether a word stands for a tool where it is. Names that no word of a language looks like do; one that
// does, such as Agent or task, is in quotes or before "tool" or "(".
func (w word) names(text string) bool {
	inner := strings.IndexFunc(w.name, unicode.IsLower)
	if strings.Contains(w.name, "_") || inner >= 0 && strings.ContainsFunc(w.name[inner:], unicode.IsUpper) {
		return true
	}
	before, after := text[:w.from], text[w.to:]
	quoted := func(q string) bool { return strings.HasSuffix(before, q) && strings.HasPrefix(after, q) }
	return quoted("`") || quoted(`"`) || quoted("'") || strings.HasPrefix(after, " tool") || strings.HasPrefix(after, "(")
}

// Facts are what is known of one version of an agent's CLI in a project.
type BaseFacts struct {
	// Dropped says of levers what they did instead of what they are for.
	Dropped map[string]string `json:"dropped,omitempty"`
	Sizes   []BaseSize        `json:"sizes,omitempty"` // the newest last
}

// maxSizes is how many sizes are kept of a version.
const maxSizes = 20

// Drop adds what was found, and returns the findings that are news: each lever is dropped once.
func (f BaseFacts) Drop(found []BaseFinding) (BaseFacts, []BaseFinding) {
	f.Dropped = maps.Clone(f.Dropped)
	var news []BaseFinding
	for _, x := range found {
		x.Levers = slices.DeleteFunc(slices.Clone(x.Levers), func(name string) bool { return f.Dropped[name] != "" })
		if len(x.Levers) == 0 {
			continue
		}
		if f.Dropped == nil {
			f.Dropped = map[string]string{}
		}
		for _, name := range x.Levers {
			f.Dropped[name] = x.What
		}
		news = append(news, x)
	}
	return f, news
}

// Know adds a size, in place of the one that was measured in the same way before.
func (f BaseFacts) Know(s BaseSize) BaseFacts {
	f.Sizes = slices.DeleteFunc(slices.Clone(f.Sizes), func(k BaseSize) bool {
		return k.Model == s.Model && slices.Equal(k.Left, s.Left)
	})
	f.Sizes = append(f.Sizes, s)
	f.Sizes = f.Sizes[max(0, len(f.Sizes)-maxSizes):]
	return f
}

// Warnings says of the levers that did not work with this version what they did.
func (f BaseFacts) Warnings(l Levers) []BaseWarning {
	var all []BaseWarning
	for _, name := range slices.Sorted(maps.Keys(f.Dropped)) {
		all = append(all, BaseWarning{
			What: strings.TrimSpace(fmt.Sprintf("%s without %s: %s", strings.TrimSpace(l.Agent+" "+l.Version), name, f.Dropped[name])),
			Do:   "New threads keep " + name + ".",
		})
	}
	return all
}

// Without returns the levers with why those are kept that did not work with this version.
func (f BaseFacts) Without(l Levers) Levers {
	l.Levers = slices.Clone(l.Levers)
	for i, lever := range l.Levers {
		if f.Dropped[lever.Name] != "" {
			l.Levers[i].Kept = cmp.Or(lever.Kept, strings.TrimSpace("did not work with "+l.Agent+" "+l.Version))
		}
	}
	return l
}
