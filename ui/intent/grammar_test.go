package intent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// meanings says what a letter means, wherever it means anything: the actions it may lead to over all views. Menus and
// the mode in which matches of a search are marked are apart: they show their letters while they are open. So is scroll
// mode, whose letters are vi's.
var meanings = map[string]struct {
	word    string
	actions []Action
}{
	"a": {"accept", []Action{Yes, TakeOffer, Approve}},
	"A": {"all of its kind", []Action{Always, MaskAll, ResumeAll}},
	"x": {"decline", []Action{No, DismissOffer}},
	"r": {"reply", []Action{Reply}},
	"d": {"done", []Action{Read}},
	"i": {"prompt", []Action{Send}},
	"p": {"prompts", []Action{Prompts}},
	"P": {"pin", []Action{Pin, PinResult}},
	"w": {"next that waits", []Action{NextWait}},
	"n": {"new", []Action{New}},
	"f": {"fork", []Action{Fork}},
	"F": {"fork at a turn", []Action{ForkAt}},
	"e": {"in the editor", []Action{Editor, Transcript}},
	"E": {"explain", []Action{Why, Open}},
	"u": {"undo", []Action{Undo}},
	"m": {"MCP servers", []Action{MCP, Cancel}}, // closes what it opened
	"M": {"mask", []Action{Mask}},
	"s": {"summarise", []Action{Summarise}},
	"R": {"rewind", []Action{Rewind}},
	"D": {"diff", []Action{ShowDiff}},
	"T": {"timeline", []Action{Turns}},
	"C": {"context", []Action{Contents}},
	"V": {"layout", []Action{Layout}},
	"+": {"zoom", []Action{Zoom}},
	"v": {"mark", []Action{Mark}},
	"B": {"base of the diff", []Action{Base}},
	"c": {"compare", []Action{Compare}},
	"o": {"output", []Action{Log}},
	"O": {"order", []Action{Sort}},
	"z": {"fold all", []Action{FoldAll}},
	"t": {"pure tree", []Action{PureTree}},
	"-": {"density", []Action{Density}},
	"b": {"side bar", []Action{Sidebar}},
	"<": {"narrower list", []Action{Narrower}},
	">": {"wider list", []Action{Wider}},
	"g": {"agents", []Action{Agents}},
	"I": {"inbox", []Action{Inbox, Cancel}},
	"W": {"work", []Action{Work, Cancel}},
	"L": {"interrupted", []Action{Resumes}},
	"h": {"left", []Action{Left, Fold, PrevFile}},
	"l": {"right", []Action{Right, Unfold, NextFile}},
	"j": {"down", []Action{Down}},
	"k": {"up", []Action{Up}},
	"G": {"end", []Action{Last}},
	"q": {"leave", []Action{Quit, Leave, Cancel}},
	".": {"menu", []Action{Menu}},
	"y": {"copy", []Action{Copy, AgentCopy}},
	"Y": {"copy the last answer", []Action{CopyAnswer}},
	"[": {"scroll mode", []Action{ScrollMode}},
	"/": {"filter or search", []Action{Filter, Search}},
	"?": {"keys", []Action{Help, Cancel}},
	":": {"go", []Action{Go}},
	"$": {"money", []Action{Money, Cancel}},
	"!": {"events", []Action{Events}},
	"{": {"previous turn", []Action{Older}},
	"}": {"next turn", []Action{Newer}},
}

func TestOneMeaning(t *testing.T) {
	tab, err := NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	apart := []Scope{ThreadMenu, ContextMenu, ServersMenu, WavesMenu, Searching, Scroll, Form, Field, Confirm, Terminal}
	used := map[string][]string{}
	for _, b := range tab.bindings {
		if slices.Contains(apart, b.Scope) {
			continue
		}
		for _, k := range b.Keys() {
			if !isText(k) || k == "space" {
				continue
			}
			m, ok := meanings[k]
			if !ok || !slices.Contains(m.actions, b.Action) {
				t.Errorf("%q means %q, but %s in %s", k, m.word, b.Action, b.Scope)
			}
			used[k] = append(used[k], fmt.Sprintf("%s (%s)", b.Action, b.Scope))
		}
	}
	for k, m := range meanings {
		if len(used[k]) == 0 {
			t.Errorf("%q means %q nowhere", k, m.word)
		}
		t.Logf("%s  %-18s %s", k, m.word, strings.Join(used[k], ", "))
	}
}

// What stops, merges, removes or publishes is behind the menu: no letter outside it does.
func TestActsAreBehindTheMenu(t *testing.T) {
	tab, _ := NewTable(nil)
	acts := []Action{Stop, StopNow, Merge, Finish, Abandon, Archive, FileAway, Delete, Push, PR, Export, Collect, Relaunch, SwitchNow}
	for _, b := range tab.bindings {
		if slices.Contains(acts, b.Action) && !b.Scope.IsMenu() && len(b.Keys()) > 0 {
			t.Errorf("%v does %s in %s", b.Keys(), b.Action, b.Scope)
		}
	}
	for _, a := range acts {
		if a != StopNow && a != FileAway && !slices.ContainsFunc(tab.bindings, func(b Binding) bool { return b.Action == a && b.Scope.IsMenu() }) {
			t.Errorf("%s is in no menu", a)
		}
	}
	if got := tab.KeyOf(Merge); got != ". m" {
		t.Errorf("merge is at %q", got)
	}
	own, err := NewTable(map[string][]string{"merge": {"ctrl+x"}})
	if got := own.Lookup([]Scope{Tree, Global}, Key{Name: "ctrl+x"}); err != nil || got != Merge {
		t.Errorf("a key of one's own does %v: %v", got, err)
	}
	if got := own.Lookup([]Scope{ThreadMenu}, Key{Name: "m", Text: "m"}); got != Merge {
		t.Errorf("the letter of the menu does %v then", got)
	}
}
