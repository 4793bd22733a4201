package thread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// BaseConfig is what the person has configured of bases.
type BaseConfig struct {
	// Profile is that of a thread which the person opens by hand, Started that of one which another verb, or a thread,
	// starts. Empty, they are BaseFull and BaseSlim.
	Profile, Started string
	// Agents are profiles by agent: they go before both.
	Agents map[string]string
	// Profiles are the person's own ones.
	Profiles map[string]OwnBase
}

// Names returns the names of all profiles: those of every agent, then the person's own.
func (c BaseConfig) Names() []string {
	return slices.Concat(BaseProfiles(), slices.Sorted(maps.Keys(c.Profiles)))
}

// CheckProfile returns ErrInvalid for a profile that there is not.
func (c BaseConfig) CheckProfile(name string) error {
	if slices.Contains(c.Names(), name) {
		return nil
	}
	return Hint(Kindf(ErrInvalid, "base %q: there is no such profile", name), "use "+strings.Join(c.Names(), ", "))
}

// BaseWish is what is known of a thread's base as the thread is made.
type BaseWish struct {
	Agent   string
	Profile string // that was asked for, BaseDefault for none
	Keep    []string
	Started bool // by a verb other than `new`, or by another thread
	// From is the base of the answer that a fork begins at, with Next of its parent; zero if it is no fork, or one of a
	// thread whose agent leaves nothing out. Same is set if the fork's agent is the parent's.
	From Base
	Same bool
	// Empty is set for a fork whose agent does not get the conversation: it shares no cache with its parent.
	Empty bool
}

// BaseByHand is the reason of a profile that the person asked for.
const BaseByHand = "chosen"

// The other reasons for a profile.
const (
	baseUnchosen   = "full until you choose another"
	baseConfigured = "configured"
	baseAgent      = "configured for the agent"
	baseStarted    = "started for a task"
	baseParent     = "as in the parent"
	baseNext       = "as set for the parent's next start"
	baseBegun      = "begun before there were profiles"
	baseElsewhere  = "as where it was exported"
)

// Plan returns the base that a new thread has until its agent is started: what it inherits if that is settled, and
// otherwise the profile alone. What was asked for goes first, then what is inherited, then what is configured for the
// agent, then what is for all.
func (c BaseConfig) Plan(w BaseWish) Base {
	switch {
	case w.Profile != BaseDefault:
		return Base{Profile: w.Profile, Keep: slices.Clone(w.Keep), Why: BaseByHand}
	case w.From.Next != "":
		return Base{Profile: w.From.Next, Keep: slices.Clone(w.From.NextKeep), Why: baseNext}
	case w.From.Profile == BaseFull && w.Empty && w.Started:
		// Nothing of the parent's cache can be used, and what is started for a task is slim.
	case w.From.Profile != BaseDefault && w.Same:
		b := w.From.Clone()
		b.Why, b.Unchecked = baseParent, ""
		return b
	case w.From.Profile != BaseDefault:
		return Base{Profile: w.From.Profile, Keep: slices.Clone(w.From.Keep), Why: baseParent}
	}
	if p := c.Agents[w.Agent]; p != "" {
		return Base{Profile: p, Why: baseAgent}
	}
	if w.Started {
		return Base{Profile: cmp.Or(c.Started, BaseSlim), Why: baseStarted}
	}
	if c.Profile == "" {
		return Base{Profile: BaseFull, Why: baseUnchosen}
	}
	return Base{Profile: c.Profile, Why: baseConfigured}
}

// BaseOption is a profile as people choose it for an agent.
type BaseOption struct {
	Profile string   `json:"profile"`
	Lost    []string `json:"lost,omitempty"`  // what the person no longer has
	Saves   int      `json:"saves,omitempty"` // tokens of the first request, about; 0 if unknown
	// Stays are the parts of the profile that cannot be left out.
	Stays []string `json:"stays,omitempty"`
}

// Says returns in words what is lost and saved.
func (o BaseOption) Says() string {
	text := "everything that it sends"
	if len(o.Lost) > 0 {
		text = "you lose: " + strings.Join(o.Lost, " · ")
	}
	if o.Saves > 0 {
		text = "saves about " + Tokens(int64(o.Saves)) + " tokens; " + text
	}
	if len(o.Stays) > 0 {
		text = strings.Join(o.Stays, " and ") + " cannot be left out; " + text
	}
	return text
}

// Options returns what each profile means for an agent.
func (c BaseConfig) Options(l Levers) []BaseOption {
	var all []BaseOption
	for _, name := range c.Names() {
		left, kept, err := ChooseBase(l, name, c.Profiles, nil)
		if err != nil {
			continue
		}
		o := BaseOption{Profile: name}
		for _, name := range []string{LeverEditing, LeverShell} {
			if kept[name] != "" {
				o.Stays = append(o.Stays, name)
			}
		}
		for _, lever := range l.Named(left) {
			o.Lost = append(o.Lost, lever.Lost)
			o.Saves += lever.Saves
		}
		all = append(all, o)
	}
	return all
}

// ByHand reports whether the person asked for the profile of this thread, so that another one in its place is an error.
func (b Base) ByHand() bool { return b.Why == BaseByHand || strings.HasPrefix(b.Why, BaseByHand+";") }

// Unchosen reports whether nobody has chosen a profile for the thread: the person opened it by hand and has configured
// none.
func (b Base) Unchosen() bool { return b.Why == baseUnchosen }

// BegunBase is the base of a thread whose agent was started before there were profiles: it leaves nothing out.
func BegunBase() Base { return Base{Profile: BaseFull, Chosen: true, Why: baseBegun} }

// Full returns a base that leaves nothing out, and why.
func (b Base) Full(why string) Base {
	return Base{Profile: BaseFull, Chosen: true, Why: why, Next: b.Next, NextKeep: b.NextKeep}
}

// Settled returns the base with what its profile leaves out of a version of an agent, and which parts of the profile stay,
// with why; those apart that the person wants kept. needed are the levers that the task needs.
func (b Base) Settled(l Levers, own map[string]OwnBase, needed []string) (settled Base, kept map[string]string, err error) {
	left, kept, err := ChooseBase(l, b.Profile, own, slices.Concat(needed, b.Keep))
	if err != nil {
		return b, nil, err
	}
	for _, lever := range l.Levers {
		if lever.among(b.Keep) {
			delete(kept, lever.Name)
		}
	}
	b.Chosen, b.Version, b.Left = true, l.Version, left
	if len(kept) > 0 {
		b.Why += "; kept: " + Reasons(kept)
	}
	return b, kept, nil
}

// Reasons returns names with their reasons, for people: "editing (your settings), loops (the task speaks of it)".
func Reasons(why map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(why)) {
		all = append(all, name+" ("+why[name]+")")
	}
	return strings.Join(all, ", ")
}

// Recorded returns what a checkpoint keeps of a base.
func (b Base) Recorded() Base {
	return Base{Profile: b.Profile, Chosen: b.Chosen, Version: b.Version, Left: slices.Clone(b.Left), Keep: slices.Clone(b.Keep)}
}

// Elsewhere returns what a base from another place is here: its profile, which is settled anew at the first start.
// What it claims to leave out is of another version of the agent, and nobody here has seen that it does.
func (b Base) Elsewhere() Base {
	if b.Profile == BaseDefault {
		return Base{}
	}
	return Base{Profile: b.Profile, Keep: slices.Clone(b.Keep), Why: baseElsewhere}
}

// Guards reports whether a lever keeps the thread's agent from changing anything, so that it is not given back by a slip
// of the finger.
func (b Base) Guards(lever string) bool {
	return b.Profile == BaseReadOnly || Lever{Name: lever}.Acts()
}

// BaseNarrows reports whether a profile leaves out at least what another does, as far as their names tell: minimal and
// read-only each leave out what the other does not, and one of the person's own is only like itself.
func BaseNarrows(profile, than string) bool {
	switch {
	case profile == cmp.Or(than, BaseFull):
		return true
	case than == BaseDefault, than == BaseFull:
		return slices.Contains(BaseProfiles(), profile)
	default:
		return than == BaseSlim && (profile == BaseMinimal || profile == BaseReadOnly)
	}
}

// maxKeep is how many levers and tools a thread may keep.
const maxKeep = 100

// MaxBaseName is the longest name of a profile, in characters.
const MaxBaseName = 40

// CheckBaseName returns what is wrong with the name of a profile of one's own.
func CheckBaseName(name string) error {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) }
	switch {
	case slices.Contains(BaseProfiles(), name):
		return fmt.Errorf("%q is a profile of every agent. Take another name: %w", name, ErrInvalid)
	case name == "" || utf8.RuneCountInString(name) > MaxBaseName || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return fmt.Errorf("%q: a name has 1 to %d letters, digits, dots, dashes and underscores: %w", name, MaxBaseName, ErrInvalid)
	}
	return nil
}

// CheckBaseLevers returns what is wrong with names of levers or tools in a profile.
func CheckBaseLevers(names []string) error {
	if len(names) > maxKeep {
		return fmt.Errorf("%d names, but at most %d are allowed: %w", len(names), maxKeep, ErrInvalid)
	}
	for _, n := range names {
		if n == "" || utf8.RuneCountInString(n) > 100 || strings.ContainsFunc(n, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
			return fmt.Errorf("%q is not the name of a switch or a tool: %w", n, ErrInvalid)
		}
	}
	return nil
}
