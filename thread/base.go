package thread

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// The base of an agent is what it sends before a word is said: its maker's system prompt, the definitions of its tools,
// lists of skills and agents, files of instructions, its surroundings. A profile says what of it is left out.

// The profiles that every agent with levers has. There may be more in the configuration.
const (
	BaseDefault  = ""          // as it is configured
	BaseFull     = "full"      // the agent as its maker sends it
	BaseSlim     = "slim"      // without what a task rarely needs; reading, editing, shell and questions stay
	BaseReadOnly = "read-only" // without editing and shell too
	BaseMinimal  = "minimal"   // without agents, questions and skills as well; editing and shell stay
)

// BaseProfiles returns the names of the profiles that every agent with levers has.
func BaseProfiles() []string { return []string{BaseFull, BaseSlim, BaseReadOnly, BaseMinimal} }

// The levers that every agent calls the same: what it changes files and runs commands with.
const (
	LeverEditing = "editing"
	LeverShell   = "shell"
)

// Base is what a thread's agent leaves out. It is chosen once, at the thread's first start, so that each request begins
// with the same bytes and the provider's cache holds.
type Base struct {
	// Profile is the profile's name, BaseDefault until it is chosen.
	Profile string `json:"profile,omitempty"`
	// Why says for people why it is this profile: "chosen", "started by a verb", "configured", "as in the parent".
	Why string `json:"why,omitempty"`
	// Chosen is set once Left is what the profile meant for Version, the version of the agent's CLI.
	Chosen  bool     `json:"chosen,omitempty"`
	Version string   `json:"version,omitempty"`
	Left    []string `json:"left,omitempty"` // names of levers, sorted
	// Unused are those of Left that the newest start could not leave out, sorted: the person's settings decide them.
	Unused []string `json:"unused,omitempty"`
	// Keep are levers and tools that stay whatever the profile says: the person wanted them back.
	Keep []string `json:"keep,omitempty"`
	// Next is the profile that the next start, or the next fork, has in place of this one, and NextKeep what it keeps.
	Next     string   `json:"next,omitempty"`
	NextKeep []string `json:"nextKeep,omitempty"`
	// Unchecked is why nothing can tell whether it is left out, "" if its first request does.
	Unchecked string `json:"unchecked,omitempty"`
}

// Clone returns a copy that shares nothing.
func (b Base) Clone() Base {
	b.Left, b.Unused = slices.Clone(b.Left), slices.Clone(b.Unused)
	b.Keep, b.NextKeep = slices.Clone(b.Keep), slices.Clone(b.NextKeep)
	return b
}

// ToCome returns the profile that the next start has, and what it keeps.
func (b Base) ToCome() (profile string, keep []string) {
	if b.Next != "" {
		return b.Next, slices.Clone(b.NextKeep)
	}
	return b.Profile, slices.Clone(b.Keep)
}

// With is ToCome with a lever that is not left out any more.
func (b Base) With(lever string) (profile string, keep []string) {
	profile, keep = b.ToCome()
	if !slices.Contains(keep, lever) {
		keep = append(keep, lever)
	}
	return profile, keep
}

// OwnBase is a profile in the person's configuration. What it leaves out of an agent is what the profile From does, with
// the levers and tools in LeaveOut and without those in Keep. Names that an agent does not have mean nothing for it.
type OwnBase struct {
	From     string   `json:"from,omitempty"` // a profile of every agent, BaseFull when empty
	LeaveOut []string `json:"leaveOut,omitempty"`
	Keep     []string `json:"keep,omitempty"`
}

// Levers are what can be left out of the base of one version of a CLI.
type Levers struct {
	Agent   string  `json:"agent"`
	Version string  `json:"version"`
	Known   bool    `json:"known"` // the table was measured with this version
	Levers  []Lever `json:"levers"`
}

// Lever is something that can be left out.
type Lever struct {
	Name string `json:"name"` // lower case, unique for the agent: "loops", "bundled-skills"
	// Profiles are those of BaseProfiles that leave it out.
	Profiles []string `json:"profiles,omitempty"`
	// Tools are the names of tools that go with it; a * stands for any text, as in path.Match.
	Tools []string `json:"tools,omitempty"`
	// Named are those of Tools whose names stand in the maker's texts once they have gone, as measured: they are words of
	// the language ("task", "edit"), or the profile is worth it. Nothing follows from that.
	Named []string `json:"named,omitempty"`
	// Parts are the others that it makes smaller or leaves out: a kind, or kind and name as in "environment: git".
	Parts []string `json:"parts,omitempty"`
	// Needs are levers without which it is not used, since it would make the base larger.
	Needs []string `json:"needs,omitempty"`
	// Lost is what the person no longer has: "loops and wake-ups by time (/loop)".
	Lost string `json:"lost"`
	// Words are what in a prompt asks for it, in lower case: "/loop", "every 5 minutes", "@general", "settings.json",
	// ".png", "https://". See AskedFor.
	Words []string `json:"words,omitempty"`
	// Saves is how many tokens of the first request it saves, as measured for a version of the CLI; 0 if unknown.
	Saves int `json:"saves,omitempty"`
	// Kept is why it is not used here: the person's own settings decide it, the repository has something that needs it.
	// Of a lever that Acts, files of the repository decide nothing: its agent can write them.
	Kept string `json:"kept,omitempty"`
}

// Acts reports whether the tools that go with a lever change files or run commands. Who chooses a profile without them
// relies on it: such a lever is kept only by what the person says of the tools themselves, never by a word of the task,
// and never by a file of the repository.
func (l Lever) Acts() bool { return l.Name == LeverEditing || l.Name == LeverShell }

// BaseText is a text of a first request.
type BaseText struct {
	Kind BaseKind `json:"kind"`
	Name string   `json:"name,omitempty"` // the path of a file of instructions, the name of a tool or of an MCP server
	Text string   `json:"-"`
}

// BaseKind is a kind of what a base is made of.
type BaseKind string

// The kinds.
const (
	BaseSystem       BaseKind = "system"       // the maker's prompt
	BaseTool         BaseKind = "tool"         // the definition of a tool of the agent's own
	BaseMCP          BaseKind = "mcp"          // definitions of the tools of an MCP server
	BaseInstructions BaseKind = "instructions" // a file of the person's or the repository's
	BaseSkills       BaseKind = "skills"       // the list of skills
	BaseAgents       BaseKind = "agents"       // the list of agents that can be called
	BaseDeferred     BaseKind = "deferred"     // names of tools that can be loaded later
	BaseEnvironment  BaseKind = "environment"  // folder, date, git status, permissions, mode
	BasePrompt       BaseKind = "prompt"       // what the person said: not of the base
	BaseOther        BaseKind = "other"
)

// BasePart is a part of a base, counted.
type BasePart struct {
	Kind   BaseKind `json:"kind"`
	Name   string   `json:"name,omitempty"`
	Tokens int64    `json:"tokens"`
	Count  int      `json:"count"`
	// Lever is what it could be left out by, "" if nothing does.
	Lever string `json:"lever,omitempty"`
}

// BaseWarning is something that makes a base larger than it needs to be.
type BaseWarning struct {
	What string `json:"what"` // "ENABLE_TOOL_SEARCH=false puts every definition of a tool in front"
	Do   string `json:"do"`   // "Unset it."
}

// Line is the warning as a sentence for people.
func (w BaseWarning) Line() string {
	return strings.TrimSpace(strings.TrimSuffix(w.What, ".") + ". " + w.Do)
}

// BaseQuery asks for a BaseReport: of a thread, otherwise of the newest thread of an agent, or of all, that has one.
type BaseQuery struct {
	Thread string `json:"thread,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Dir    string `json:"dir,omitempty"` // absolute; where an agent of which none was seen would be started
}

// BaseReport describes what a thread's agent sends before a word is said.
type BaseReport struct {
	Thread  ID     `json:"thread,omitempty"`
	Name    string `json:"name,omitempty"`
	Agent   string `json:"agent"`
	Version string `json:"version,omitempty"`
	Base    Base   `json:"base"`
	Model   string `json:"model,omitempty"`
	// Tokens are those of the first request, the prompt apart; 0 if none was seen. They are counted as ContextReport's are.
	Tokens int64      `json:"tokens"`
	Parts  []BasePart `json:"parts"` // largest first
	Levers []Lever    `json:"levers,omitempty"`
	// Profiles are about how many tokens each profile would send, by name.
	Profiles map[string]int64 `json:"profiles,omitempty"`
	Warnings []BaseWarning    `json:"warnings,omitempty"`
	// Reason is why there is nothing to report, "" if there is.
	Reason string `json:"reason,omitempty"`
	// At is when the first request was sent, zero if none was seen.
	At time.Time `json:"at,omitzero"`
	// Counted are the tokens as the program counts them, before they are corrected by what the provider counts.
	Counted int64 `json:"counted,omitempty"`
	// Offered are the names of the tools in their order, and ToolsSum the SHA-256 of all that defines them, in hex: the same
	// sum stands for the same bytes.
	Offered  []string `json:"offered,omitempty"`
	ToolsSum string   `json:"toolsSum,omitempty"`
}

// ChooseBase returns the names of the levers that a profile leaves out of an agent, sorted, and why levers of the
// profile are not used. wanted are names of levers and tools that the thread needs, as Levers.Wanted says of its task.
// ErrInvalid names a profile that there is not.
func ChooseBase(l Levers, profile string, own map[string]OwnBase, wanted []string) (left []string, kept map[string]string, err error) {
	o, isOwn := own[profile]
	from := profile
	if isOwn {
		from = cmp.Or(o.From, BaseFull)
	}
	if !slices.Contains(BaseProfiles(), from) {
		names := slices.Concat(BaseProfiles(), slices.Sorted(maps.Keys(own)))
		return nil, nil, Hint(Kindf(ErrInvalid, "base %q: there is no such profile", profile), "use "+strings.Join(names, ", "))
	}
	chosen, kept := map[string]bool{}, map[string]string{}
	for _, lever := range l.Levers {
		in := slices.Contains(lever.Profiles, from) || lever.among(o.LeaveOut)
		switch {
		case !in || lever.among(o.Keep):
		case lever.Kept != "":
			kept[lever.Name] = lever.Kept
		case lever.among(wanted):
			kept[lever.Name] = "the task speaks of it"
		default:
			chosen[lever.Name] = true
		}
	}
	for again := true; again; { // one that goes may be needed by another
		again = false
		for _, lever := range l.Levers {
			i := slices.IndexFunc(lever.Needs, func(name string) bool { return !chosen[name] })
			if chosen[lever.Name] && i >= 0 {
				delete(chosen, lever.Name)
				kept[lever.Name] = fmt.Sprintf("without %s it would make the base larger", lever.Needs[i])
				again = true
			}
		}
	}
	if from == BaseReadOnly {
		for _, name := range []string{LeverEditing, LeverShell} {
			if !slices.ContainsFunc(l.Levers, func(lever Lever) bool { return lever.Name == name }) {
				kept[name] = l.Agent + " has no switch for it"
			}
		}
	}
	return slices.Sorted(maps.Keys(chosen)), kept, nil
}

// among reports whether names have the lever or one of its tools.
func (l Lever) among(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name == l.Name || l.LeavesOut(name) })
}

// LeavesOut reports whether a tool goes with the lever.
func (l Lever) LeavesOut(tool string) bool {
	return slices.ContainsFunc(l.Tools, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return err == nil && ok
	})
}

// PlainTool reports whether a name of Lever.Tools is one tool's, and not a pattern.
func PlainTool(name string) bool { return name != "" && !strings.ContainsAny(name, `*?[\`) }

// Named returns the levers with the given names.
func (l Levers) Named(names []string) []Lever {
	var out []Lever
	for _, lever := range l.Levers {
		if slices.Contains(names, lever.Name) {
			out = append(out, lever)
		}
	}
	return out
}
