package thread

import (
	"cmp"
	"slices"
)

// LeftOutBy returns the name of the lever that a part could be left out by, at least in part; "" if nothing does.
func (l Levers) LeftOutBy(p BasePart) string {
	i := slices.IndexFunc(l.Levers, func(lever Lever) bool {
		if p.Kind == BaseTool {
			return lever.LeavesOut(p.Name)
		}
		return slices.Contains(lever.Parts, string(p.Kind)) || p.Name != "" && slices.Contains(lever.Parts, string(p.Kind)+": "+p.Name)
	})
	if i < 0 {
		return ""
	}
	return l.Levers[i].Name
}

// Judge tells what each part could be left out by, and about how many tokens each profile would send; own are the
// person's profiles. Without a request that was seen, it only names the levers.
func (r *BaseReport) Judge(l Levers, own map[string]OwnBase) {
	r.Levers, r.Version = l.Levers, cmp.Or(r.Version, l.Version)
	for i := range r.Parts {
		r.Parts[i].Lever = l.LeftOutBy(r.Parts[i])
	}
	if r.Tokens <= 0 || len(l.Levers) == 0 {
		return
	}
	r.Profiles = map[string]int64{}
	names := BaseProfiles()
	for name := range own {
		names = append(names, name)
	}
	for _, name := range names {
		if left, _, err := ChooseBase(l, name, own, nil); err == nil {
			r.Profiles[name] = r.with(l, left)
		}
	}
}

// with returns about how many tokens the base would have with levers left out, and those only.
func (r *BaseReport) with(l Levers, left []string) int64 {
	n := r.Tokens
	for _, lever := range l.Levers {
		now, then := slices.Contains(r.Base.Left, lever.Name), slices.Contains(left, lever.Name)
		switch {
		case then && !now:
			n -= r.saves(lever)
		case now && !then:
			n += r.scaled(int64(lever.Saves))
		}
	}
	return max(0, n)
}

// saves returns about how many tokens a lever saves that is not used: as measured for the CLI, at least the tools that go
// with it. One whose tools are not offered saves nothing.
func (r *BaseReport) saves(l Lever) int64 {
	var tools int64
	for _, p := range r.Parts {
		if p.Kind == BaseTool && l.LeavesOut(p.Name) {
			tools += p.Tokens
		}
	}
	if tools == 0 && len(l.Tools) > 0 {
		return 0
	}
	return max(tools, r.scaled(int64(l.Saves)))
}

// scaled corrects tokens that were counted by the program as the report's are.
func (r *BaseReport) scaled(n int64) int64 {
	if r.Counted <= 0 {
		return n
	}
	return n * r.Tokens / r.Counted
}

// Says returns what a part is, for people.
func (p BasePart) Says() string {
	switch p.Kind {
	case BaseSystem:
		return named("the maker's prompt", p.Name)
	case BaseTool:
		return "tool " + p.Name
	case BaseMCP:
		if p.Name == "" {
			return "MCP servers"
		}
		return "MCP server " + p.Name
	case BaseInstructions:
		return cmp.Or(p.Name, "instructions")
	case BaseSkills:
		return named("list of skills", p.Name)
	case BaseAgents:
		return named("list of agents", p.Name)
	case BaseDeferred:
		return named("names of tools to load later", p.Name)
	case BaseEnvironment:
		return named("environment (folder, date, git)", p.Name)
	default:
		return named("other", p.Name)
	}
}

func named(what, name string) string {
	if name == "" {
		return what
	}
	return what + ": " + name
}

// LeftOut returns what the agent leaves out, in words.
func (r *BaseReport) LeftOut() (out []string) {
	for _, l := range (Levers{Levers: r.Levers}).Named(r.Base.Left) {
		out = append(out, cmp.Or(l.Lost, l.Name))
	}
	return out
}
