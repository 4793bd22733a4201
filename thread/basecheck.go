package thread

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// FirstRequest is the first request of an agent's conversation after a start of its process, as the agent sent it.
type FirstRequest struct {
	Model string
	// Texts are all that is in it: a BaseTool for each definition of a tool, with its name, then the other texts, which
	// Slimmer.BaseParts tells apart.
	Texts []BaseText
}

// BaseStart is how a process was started whose first request is checked.
type BaseStart struct {
	Levers Levers
	// Left are the levers that it leaves out.
	Left []string
	// Resumed is set if the conversation was there before: what it was told then stays in it, whatever is left out now.
	Resumed bool
	// With is what else it was started with that may change what it sends.
	With string
}

// BaseSize is how large the base was that a version of a CLI sent with some levers left out.
type BaseSize struct {
	Model string   `json:"model,omitempty"`
	Left  []string `json:"left,omitempty"`
	// Around stands for what else the request had in it, and how the agent was started: only sizes with the same are
	// compared.
	Around string `json:"around,omitempty"`
	// Maker are the tokens of what the CLI's maker writes: system prompt and definitions of its own tools. What the person
	// and the folder bring is another in each thread. Tools are those of the definitions.
	Maker int64 `json:"maker"`
	Tools int64 `json:"tools"`
}

// BaseFinding is something in a first request that is not as the levers say.
type BaseFinding struct {
	// Levers did not do what they are for.
	Levers []string
	What   string // "Workflow is still there"
	// Offered is set if the request offers the tool, and does not only speak of it.
	Offered bool
	// Dropped is set by BaseFacts.Learn once new threads keep the levers.
	Dropped bool
}

// Size counts the part of a first request that is the same wherever the agent is started in this way.
func (s BaseStart) Size(r FirstRequest, count func(string) int) BaseSize {
	size := BaseSize{Model: r.Model, Left: slices.Clone(s.Left)}
	around := []string{s.With}
	for _, t := range r.Texts {
		switch {
		case t.Kind == BaseTool && s.makers(t.Name):
			n := int64(count(t.Text))
			size.Tools += n
			size.Maker += n
		case t.Kind == BaseSystem:
			size.Maker += int64(count(t.Text))
		}
		switch t.Kind {
		case BaseTool, BaseMCP:
			if !slices.ContainsFunc(s.Levers.Levers, func(l Lever) bool { return l.LeavesOut(t.Name) }) {
				around = append(around, string(t.Kind)+" "+t.Name)
			}
		case BaseInstructions:
			around = append(around, string(t.Kind)+" "+path.Base(t.Name))
		default: // the same, or nothing that changes what the maker writes
		}
	}
	slices.Sort(around)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(strings.Join(slices.Compact(around), "\x00"))) // never fails
	size.Around = fmt.Sprintf("%016x", sum.Sum64())
	return size
}

// makers reports whether the text of a tool is the maker's alone: not that of an MCP server's tool, nor one in which the
// skills or agents of the person and the repository are listed.
func (s BaseStart) makers(tool string) bool {
	return !strings.HasPrefix(tool, "mcp_") && !strings.Contains(tool, "__") &&
		!slices.ContainsFunc(s.Levers.Levers, func(l Lever) bool {
			return (l.Name == "skills" || l.Name == "agents") && l.LeavesOut(tool)
		})
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
		if what, there := s.look(lever, r, offered); what != "" {
			all = append(all, BaseFinding{Levers: []string{lever.Name}, What: what, Offered: there})
		}
	}
	return all
}

// look returns what is wrong with a lever, "" if nothing is; there is set if one of its tools is offered. What the person
// and the repository write, and tools of MCP servers, prove nothing: only the maker's texts do.
func (s BaseStart) look(lever Lever, r FirstRequest, offered map[string]bool) (what string, there bool) {
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		if lever.LeavesOut(name) {
			return name + " is still there", true
		}
	}
	if s.Resumed {
		return "", false
	}
	for _, t := range r.Texts {
		switch {
		case t.Kind == BaseDeferred:
			for _, w := range identifiers(t.Text) {
				if lever.LeavesOut(w.name) {
					return w.name + " can still be loaded", true
				}
			}
		case t.Kind == BaseSystem, t.Kind == BaseTool && s.makers(t.Name):
			for _, w := range identifiers(t.Text) {
				if !offered[w.name] && !slices.Contains(lever.Named, w.name) && w.names(t.Text) && lever.LeavesOut(w.name) {
					return w.name + " is gone, but " + t.where() + " still names it", false
				}
			}
		}
	}
	return "", false
}

// where returns where a text of the maker's stands, for people.
func (t BaseText) where() string {
	if t.Kind == BaseTool {
		return "the tool " + t.Name
	}
	return "the agent's prompt"
}

// The bounds on how much the size of a base may differ by chance: a date, a path, a branch.
const (
	sizeNoise  = 200 // tokens
	savesLeast = 500 // tokens that levers should save together for less to be noticed
	savesShare = 4   // the part of them that they save at least: a quarter
)

// Grown compares the size of a base with others of the same version that had the same around them. It has a finding if leaving out more made the base
// larger, or saved much less than was measured.
func (s BaseStart) Grown(now BaseSize, known []BaseSize) []BaseFinding {
	for _, k := range known {
		if k.Model != now.Model || k.Around != now.Around || len(k.Left) >= len(s.Left) || !contains(s.Left, k.Left) {
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

// BaseFacts are what is known of one version of an agent's CLI in a project.
type BaseFacts struct {
	// Dropped has, by lever, what it did instead of what it is for.
	Dropped map[string]string `json:"dropped,omitempty"`
	// Seen is the same of levers of which one start has shown it: another one must, before they are dropped.
	Seen  map[string]BaseSeen `json:"seen,omitempty"`
	Sizes []BaseSize          `json:"sizes,omitempty"` // the newest last
}

// maxSizes is how many sizes are kept of a version.
const maxSizes = 20

// BaseSeen is what one start has shown of a lever, and whether people were told.
type BaseSeen struct {
	What string `json:"what"`
	Told bool   `json:"told,omitempty"`
}

// Learn adds what a start has shown, and returns what people are to be told. A lever is dropped when a second start shows
// that it does not work and none in between that it does: a text that happens to name a tool is gone by then. That a tool
// is offered which the person has left out is told at once; everything is told once.
func (f BaseFacts) Learn(s BaseStart, found []BaseFinding) (BaseFacts, []BaseFinding) {
	dropped, seen := map[string]string{}, map[string]BaseSeen{}
	maps.Copy(dropped, f.Dropped)
	maps.Copy(seen, f.Seen)
	if !s.Resumed { // of what was said before, nothing is looked at
		maps.DeleteFunc(seen, func(name string, _ BaseSeen) bool {
			return slices.Contains(s.Left, name) && !slices.ContainsFunc(found, func(x BaseFinding) bool { return slices.Contains(x.Levers, name) })
		})
	}
	var news []BaseFinding
	for _, x := range found {
		told, again := false, false
		x.Levers = slices.DeleteFunc(slices.Clone(x.Levers), func(name string) bool { return dropped[name] != "" })
		for _, name := range x.Levers {
			was, ok := seen[name]
			again, told = again || ok, told || was.Told
			if ok {
				dropped[name] = x.What
				delete(seen, name)
			} else {
				seen[name] = BaseSeen{x.What, x.Offered}
			}
		}
		if x.Dropped = again; len(x.Levers) > 0 && !told && (again || x.Offered) {
			news = append(news, x)
		}
	}
	f.Dropped, f.Seen = dropped, seen
	return f, news
}

// Know adds a size, in place of the one that was measured in the same way before.
func (f BaseFacts) Know(s BaseSize) BaseFacts {
	f.Sizes = slices.DeleteFunc(slices.Clone(f.Sizes), func(k BaseSize) bool {
		return k.Model == s.Model && k.Around == s.Around && slices.Equal(k.Left, s.Left)
	})
	f.Sizes = append(f.Sizes, s)
	f.Sizes = f.Sizes[max(0, len(f.Sizes)-maxSizes):]
	return f
}

// Warnings returns what the levers did that did not work with this version.
func (f BaseFacts) Warnings(l Levers) []BaseWarning {
	var all []BaseWarning
	for _, name := range slices.Sorted(maps.Keys(f.Dropped)) {
		all = append(all, BaseWarning{
			What: strings.TrimSpace(fmt.Sprintf("%s without %s: %s", strings.TrimSpace(l.Agent+" "+l.Version), name, f.Dropped[name])),
			Do:   "New threads no longer leave it out; `orchestrator context base THREAD --forget` tries it again.",
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
