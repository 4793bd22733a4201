package palette

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Config is what the palette needs from the root.
type Config struct {
	// Scopes returns the active scopes, innermost first.
	Scopes func() []intent.Scope
	// Do runs a command as its key would.
	Do func(intent.Action) tea.Cmd
	// Visit shows a thread, or a turn of it.
	Visit func(thread.Hit) tea.Cmd
	// Terminal shows the terminal of the selected thread.
	Terminal func() tea.Cmd
	// Tasks returns the tasks of plans, newest first, and Task shows one.
	Tasks func() []plan.Task
	Task  func(name string) tea.Cmd
}

// place is a room or a view, by the word that leads there.
type place struct {
	word string
	to   intent.Action
	says string
}

func rooms() []place {
	return []place{
		{"timeline", intent.Turns, "turns of the thread"},
		{"context", intent.Contents, "what fills its context"},
		{"diff", intent.ShowDiff, "what its last turn changed"},
		{"mcp", intent.MCP, "MCP servers"},
		{"prompts", intent.Prompts, "waiting and unanswered prompts"},
		{"why", intent.Why, "why it is in its state"},
		{"inbox", intent.Inbox, "everything that is open for you"},
		{"events", intent.Events, "what happened in all threads"},
		{"money", intent.Money, "what was spent, limits of providers"},
		{"work", intent.Work, "work sessions, tasks, executions"},
		{"wave", intent.ShowWaves, "tasks of plans as graphs"},
		{"interrupted", intent.Resumes, "threads that can be resumed"},
		{"archive", intent.Archived, "show or hide archived threads"},
		{"agents", intent.Agents, "installed agents"},
		{"search", intent.Find, "names, prompts, answers, changed files"},
		{"filter", intent.Filter, "filter threads"},
		{"keys", intent.Help, "all keys"},
		{"commands", intent.Palette, "all commands"},
	}
}

// forms are the commands that open a form.
func forms() []intent.Action {
	return []intent.Action{intent.New, intent.Send, intent.Fork, intent.ForkAt}
}

// entry is an item with the words that lead to it, in lower case.
type entry struct {
	dialog.Item
	word, text string
}

// entries returns everything that has a name: rooms, threads, forms, and the entries of the menu, which are only shown
// in it: no text that is typed here does what stops, merges, removes or publishes.
func entries(h *host.Host, cfg Config) []entry {
	var all []entry
	for _, p := range rooms() {
		all = append(all, entry{word: p.word, text: p.says, Item: dialog.Item{Title: fmt.Sprintf("%-12s %s", p.word, p.says),
			Note: h.Keys.KeyOf(p.to), Fill: p.word, Result: host.Do(func() tea.Cmd { return h.Act(p.to) })}})
	}
	all = append(all, entry{word: "terminal", text: "of the agent", Item: dialog.Item{Title: fmt.Sprintf("%-12s %s", "terminal", "of the agent"),
		Fill: "terminal", Result: host.Do(cfg.Terminal)}},
		entry{word: "turn", Item: dialog.Item{Title: "turn …       a turn of the thread, by its number or its prompt", Fill: "turn "}},
		entry{word: "file", Item: dialog.Item{Title: "file …       the turn that changed a file last", Fill: "file "}})
	for _, s := range h.Threads.All() {
		name := h.Threads.Called(s)
		id := s.ID
		all = append(all, entry{word: strings.ToLower(name), text: strings.ToLower(s.Name), Item: dialog.Item{Title: name,
			Note: string(s.Group()), Fill: name, Result: host.Do(func() tea.Cmd { return cfg.Visit(thread.Hit{Thread: id}) })}})
	}
	for _, t := range cfg.Tasks() {
		name, title := plain.Line(t.Name), plain.Line(t.Title)
		all = append(all, entry{word: strings.ToLower(name), text: strings.ToLower(title), Item: dialog.Item{Title: name + "  " + title,
			Note: strings.ReplaceAll(string(t.Status), "_", " "), Fill: name, Result: host.Do(func() tea.Cmd { return cfg.Task(t.Name) })}})
	}
	for _, b := range h.Keys.Commands() {
		if slices.Contains(forms(), b.Action) && b.Scope == intent.Global {
			all = append(all, entry{word: string(b.Action), text: b.Description(), Item: dialog.Item{Title: b.Description(), Note: b.Label(), Acts: true,
				Result: host.Do(func() tea.Cmd { return cfg.Do(b.Action) })}})
		}
	}
	for _, b := range h.Keys.Entries(intent.ThreadMenu) {
		all = append(all, entry{word: string(b.Action), text: b.Description(), Item: dialog.Item{Title: b.Description() + ": in the menu",
			Note: h.Keys.KeyOf(b.Action), Result: host.Do(func() tea.Cmd { return openMenu(h, b.Action) })}})
	}
	return all
}

// openMenu opens the menu at an entry.
func openMenu(h *host.Host, a intent.Action) tea.Cmd {
	cmd := h.Act(intent.Menu)
	if m, ok := h.Dialogs.Top().(*dialog.Menu); ok {
		m.Go(a)
	}
	return cmd
}

// rank returns how well a query leads to an entry, the lower the better; -1 is not at all.
func (e entry) rank(query string) int {
	switch {
	case e.word == query:
		return 0
	case strings.HasPrefix(e.word, query):
		return 1
	case strings.Contains(" "+e.word, " "+query):
		return 2
	}
	for w := range strings.FieldsSeq(query) {
		if !strings.Contains(e.word, w) && !strings.Contains(e.text, w) {
			return -1
		}
	}
	if strings.Contains(e.word, query) {
		return 3
	}
	return 4
}

// ranked returns the items that a query leads to, the best first.
func ranked(all []entry, query string) []dialog.Item {
	type hit struct {
		entry
		rank int
	}
	var hits []hit
	for _, e := range all {
		if n := e.rank(query); n >= 0 {
			hits = append(hits, hit{e, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	items := make([]dialog.Item, len(hits))
	for i, h := range hits {
		items[i] = h.Item
	}
	return items
}

// wantsTurn returns which turns a query asks for: a number, or words of their prompts.
func wantsTurn(query string) (of string, asked bool) {
	if rest, ok := strings.CutPrefix(query, "turn"); ok && (rest == "" || rest[0] == ' ') {
		return strings.TrimSpace(rest), rest != ""
	}
	_, err := strconv.Atoi(query)
	return query, err == nil
}

// turnItems returns the turns that are asked for: that of the number, those whose number begins so, then those whose
// prompt has the words.
func turnItems(turns []thread.Checkpoint, of string, visit func(thread.Hit) tea.Cmd) []dialog.Item {
	var exact, begin, rest []dialog.Item
	for _, c := range turns {
		if c.Kind != thread.KindTurn && c.Kind != thread.KindImport {
			continue
		}
		n := strconv.Itoa(c.Turn)
		it := dialog.Item{Title: fmt.Sprintf("turn %-3s  %s", n, plain.First(c.Prompt)), Fill: "turn " + n,
			Result: host.Do(func() tea.Cmd { return visit(thread.Hit{Thread: c.Thread, Checkpoint: c.ID, Turn: c.Turn}) })}
		switch {
		case n == of:
			exact = append(exact, it)
		case strings.HasPrefix(n, of):
			begin = append(begin, it)
		case strings.Contains(strings.ToLower(c.Prompt), of):
			rest = append(rest, it)
		}
	}
	return append(append(exact, begin...), rest...)
}
