package intent

// bind returns a binding that is not in the palette.
func bind(s Scope, a Action, help string, keys ...string) Binding {
	return Binding{Binding: newKeys(help, keys), Scope: s, Action: a}
}

// command returns a binding that is in the palette.
func command(s Scope, a Action, help string, keys ...string) Binding {
	return Binding{Binding: newKeys(help, keys), Scope: s, Action: a, Palette: true}
}

// defaults returns the default table, in the order in which the help shows it.
func defaults() []Binding {
	var all []Binding
	for _, part := range [][]Binding{global(), threads(), views(), servers(), costs(), dialogs(), editing()} {
		all = append(all, part...)
	}
	return all
}

func global() []Binding {
	return []Binding{
		command(Global, New, "new thread", "n"),
		command(Global, NextView, "next view: terminal, timeline, context, diff", "tab"),
		command(Global, PrevView, "previous view", "shift+tab"),
		command(Global, Filter, "filter threads", "/"),
		command(Global, Find, "search names, prompts and answers", "ctrl+f"),
		command(Global, Palette, "all commands", "ctrl+p"),
		command(Global, NextWait, "next thread waiting for you", "w"),
		command(Global, LastSeen, "the thread shown before", "ctrl+alt+o"),
		command(Global, Inbox, "inbox: everything that is open for you", "I"),
		command(Global, Money, "money: what was spent, limits of providers", "$"),
		command(Global, Resumes, "list interrupted threads", "L"),
		command(Global, ResumeAll, "resume all interrupted threads", "A"),
		command(Global, MCP, "MCP servers", "m"),
		command(Global, Agents, "installed agents", "g"),
		command(Global, Messages, "message log", "!"),
		command(Global, Sidebar, "show or hide the side bar", "b"),
		command(Global, Undo, "undo the last action", "u"),
		command(Global, Help, "keys", "?"),
		command(Global, Redraw, "redraw", "ctrl+l"),
		command(Global, Restart, "restart the server with this program", "ctrl+r"),
		command(Global, Suspend, "suspend to the shell (fg to return)", "ctrl+z"),
		command(Global, Quit, "quit (agents keep running)", "q", "ctrl+c"),
		bind(Global, Leave, "back to threads", "ctrl+q", "esc"),
		bind(Terminal, Leave, "back to threads", "ctrl+q"),
		bind(Terminal, NextWait, "next thread waiting for you", "ctrl+alt+w"),
		bind(Terminal, LastSeen, "the thread shown before", "ctrl+alt+o"),
	}
}

func threads() []Binding {
	return []Binding{
		bind(Tree, Up, "thread above", "up", "k"),
		bind(Tree, Down, "thread below", "down", "j"),
		bind(Tree, PageUp, "page up", "pgup"),
		bind(Tree, PageDown, "page down", "pgdown"),
		bind(Tree, First, "first thread", "home"),
		bind(Tree, Last, "last thread", "end", "G"),
		bind(Tree, Fold, "collapse forks", "left", "h"),
		bind(Tree, Unfold, "expand forks", "right", "l"),
		command(Tree, Focus, "type into the agent, or focus the view", "enter"),
		command(Global, Send, "send a prompt", "i"),
		command(Global, Prompts, "waiting and unanswered prompts", "p"),
		command(Global, Fork, "fork here", "f"),
		command(Global, ForkAt, "fork at a turn", "F"),
		command(Global, Rename, "rename", "r"),
		command(Global, Pin, "pin or unpin", "P"),
		command(Global, Archive, "archive or restore", "d"),
		command(Global, Delete, "delete", "D"),
		command(Global, Archived, "show or hide the archive", "z"),
		command(Global, Resume, "resume", "R"),
		command(Global, Start, "start the agent", "s"),
		command(Global, Stop, "stop the agent", "S"),
		command(Global, Merge, "merge into its parent or another thread", "M"),
		command(Global, Finish, "merge, archive and remove the worktree", "e"),
		command(Global, Abandon, "abandon with a reason", "x"),
		command(Global, Grants, "grants: what its agent may do with other threads"),
		command(Global, Push, "push its branch"),
		command(Global, PR, "push its branch and open a pull request"),
		command(Global, Export, "export the thread to a file"),
		command(Global, Import, "import a thread from a file"),
		command(Global, Collect, "delete old archived threads"),
		command(Global, Offers, "fork offers: suggest, auto or off"),
		command(Global, Why, "explain the state", "y"),
		bind(Question, Yes, "approve what the agent asks for, unless text follows", "a"),
		bind(Question, Always, "approve it and what is alike, as the dialog offers", "A"),
		bind(Question, No, "deny it", "x"),
		command(Question, Reply, "reply in your own words", "r"),
		command(Offer, TakeOffer, "accept the offered fork or MCP server", "a"),
		command(Offer, DismissOffer, "dismiss the offer", "X"),
		command(Offer, OffersOff, "turn off such offers", "O"),
	}
}

// scrolls returns the keys that scroll in every view.
func scrolls(s Scope) []Binding {
	return []Binding{
		bind(s, Up, "up", "up", "k"),
		bind(s, Down, "down", "down", "j"),
		bind(s, PageUp, "page up", "pgup", "ctrl+u"),
		bind(s, PageDown, "page down", "pgdown", "ctrl+d", "space"),
		bind(s, First, "go to the start", "home"),
		bind(s, Last, "go to the end", "end", "G"),
	}
}

func views() []Binding {
	all := append(scrolls(Timeline),
		command(Timeline, Open, "read the turn", "enter"),
		command(Timeline, ForkAt, "fork at this turn", "F"),
		command(Timeline, Rewind, "rewind to this turn", "R"),
		command(Timeline, ShowDiff, "diff of this turn", "D"),
		command(Timeline, Compare, "compare: mark two turns", "c"),
		bind(Timeline, Leave, "back to threads", "esc", "q", "ctrl+q"),
		bind(Timeline, Unfold, "expand responses", "right", "l"),
		bind(Timeline, Fold, "collapse responses", "left", "h"),
	)
	all = append(all, scrolls(Turn)...)
	all = append(all,
		bind(Turn, Leave, "back to the timeline", "esc", "q", "ctrl+q", "backspace"),
		bind(Turn, Toggle, "expand or collapse the tool call", "enter"),
		bind(Turn, FoldAll, "expand or collapse all tool calls", "o"),
		bind(Turn, Older, "previous turn", "[", "left"),
		bind(Turn, Newer, "next turn", "]", "right"),
		command(Turn, ForkAt, "fork at this turn", "F"),
		command(Turn, Rewind, "rewind to this turn", "R"),
		bind(Turn, Search, "search", "/"),
		bind(Turn, NextHit, "next match", "n"),
		bind(Turn, PrevHit, "previous match", "N"),
	)
	all = append(all, scrolls(Diff)...)
	all = append(all,
		bind(Diff, Leave, "back to threads", "esc", "q", "ctrl+q"),
		bind(Diff, NextFile, "next file", "]", "right", "l"),
		bind(Diff, PrevFile, "previous file", "[", "left", "h"),
		bind(Diff, Base, "switch between base and turn diffs", "B"),
		bind(Diff, Older, "previous turn", "{"),
		bind(Diff, Newer, "next turn", "}"),
		command(Diff, Editor, "open the file in your editor", "enter", "E"),
		bind(Diff, Search, "search", "/"),
		bind(Diff, NextHit, "next match", "n"),
		bind(Diff, PrevHit, "previous match", "N"),
	)
	all = append(all, scrolls(Context)...)
	return append(all,
		command(Context, Mask, "mask or unmask the result", "x"),
		command(Context, PinResult, "pin or unpin the result: never mask it", "p"),
		command(Context, MaskAll, "mask all that can be masked now", "A"),
		command(Context, MaskMode, "choose how much is masked", "M"),
		command(Context, Summarise, "summarise older turns, or read and drop their summary", "s"),
		command(Context, Open, "show the result", "enter"),
		bind(Context, Search, "filter results", "/"),
		command(Context, About, "facts about the thread: usage, folder, branch", "o"),
		bind(Context, Leave, "back to threads", "esc", "q", "ctrl+q"),
	)
}

// rows returns the keys that move in a list whose space key switches.
func rows(s Scope) []Binding {
	return []Binding{
		bind(s, Up, "up", "up", "k"),
		bind(s, Down, "down", "down", "j"),
		bind(s, PageUp, "page up", "pgup", "ctrl+u"),
		bind(s, PageDown, "page down", "pgdown", "ctrl+d"),
		bind(s, First, "go to the start", "home"),
		bind(s, Last, "go to the end", "end", "G"),
	}
}

func servers() []Binding {
	all := append(rows(Servers),
		bind(Servers, Toggle, "switch on or off; off waits for the end of the turn", "space"),
		bind(Servers, SwitchNow, "switch off at once", "X"),
		bind(Servers, Tool, "tools one by one", "t"),
		bind(Servers, Approve, "show exactly what is started, and accept it", "a"),
		bind(Servers, Open, "details", "enter", "i"),
		bind(Servers, Relaunch, "restart", "r"),
		bind(Servers, Log, "log", "l"),
		bind(Servers, SignIn, "sign in", "S"),
		bind(Servers, Sort, "sort by tokens, name, state or last call", "o"),
		bind(Servers, Problems, "problems, and what is outside our control", "p"),
		bind(Servers, Help, "keys", "?"),
		bind(Servers, Cancel, "close", "esc", "q", "m", "ctrl+q", "ctrl+c"),
	)
	all = append(all, rows(Tools)...)
	return append(all,
		bind(Tools, Toggle, "switch the tool on or off", "space"),
		bind(Tools, Open, "details", "enter", "i"),
		bind(Tools, Approve, "accept tools that have changed", "a"),
		bind(Tools, Help, "keys", "?"),
		bind(Tools, Cancel, "back", "esc", "q", "t", "ctrl+q", "ctrl+c"),
	)
}

func costs() []Binding {
	return append(rows(Costs),
		bind(Costs, Left, "shorter period", "h", "left"),
		bind(Costs, Right, "longer period", "l", "right"),
		bind(Costs, NextField, "by model, agent, thread", "tab"),
		bind(Costs, PrevField, "by thread, agent, model", "shift+tab"),
		bind(Costs, Open, "go to the thread", "enter"),
		bind(Costs, Cancel, "close", "esc", "q", "$", "ctrl+q", "ctrl+c"),
	)
}

func dialogs() []Binding {
	all := append(scrolls(List),
		bind(List, Accept, "select", "enter"),
		bind(List, Cancel, "close", "esc", "q", "ctrl+q", "?", "ctrl+c"),
	)
	all = append(all,
		// No printable key moves between choices or answers, so that typed text cannot.
		bind(Confirm, Left, "previous choice", "left"),
		bind(Confirm, Right, "next choice", "right"),
		bind(Confirm, Accept, "select", "enter"),
		bind(Confirm, Cancel, "cancel", "esc", "ctrl+q", "ctrl+c"),
		bind(Confirm, Up, "up", "up"),
		bind(Confirm, Down, "down", "down"),
		bind(Confirm, PageUp, "page up", "pgup"),
		bind(Confirm, PageDown, "page down", "pgdown"),
	)
	all = append(all,
		bind(Resuming, Up, "up", "up", "k"),
		bind(Resuming, Down, "down", "down", "j"),
		bind(Resuming, ResumeOne, "resume this thread", "R", "enter"),
		bind(Resuming, ResumeAll, "resume all", "A"),
		bind(Resuming, Cancel, "later", "esc", "q", "ctrl+q", "ctrl+c"),
	)
	return append(all,
		bind(Form, Accept, "done", "enter"),
		bind(Form, Submit, "submit multi-line text or a prompt", "ctrl+s"),
		bind(Form, Cancel, "cancel", "esc", "ctrl+q", "ctrl+c"),
		bind(Form, NextField, "next field", "tab"),
		bind(Form, PrevField, "previous field", "shift+tab"),
		bind(Form, Up, "row up, or previous field", "up", "ctrl+p"),
		bind(Form, Down, "row down, or next field", "down", "ctrl+n"),
		bind(Form, Toggle, "next choice", "space"),
		bind(Form, NewLine, "new line", "shift+enter", "alt+enter", "ctrl+j"),
	)
}

func editing() []Binding {
	all := []Binding{
		bind(Field, Accept, "select", "enter"),
		bind(Field, Cancel, "cancel", "esc", "ctrl+q", "ctrl+c"),
		bind(Field, Up, "up", "up", "ctrl+p"),
		bind(Field, Down, "down", "down", "ctrl+n"),
		bind(Field, PageUp, "page up", "pgup"),
		bind(Field, PageDown, "page down", "pgdown"),
	}
	for _, s := range []Scope{Form, Field} {
		all = append(all,
			bind(s, Left, "left", "left", "ctrl+b"),
			bind(s, Right, "right", "right", "ctrl+f"),
			bind(s, WordLeft, "word left", "alt+left", "ctrl+left", "alt+b"),
			bind(s, WordRight, "word right", "alt+right", "ctrl+right", "alt+f"),
			bind(s, CursorHome, "start of the line", "home", "ctrl+a"),
			bind(s, CursorEnd, "end of the line", "end", "ctrl+e"),
			bind(s, TextStart, "start of the text", "ctrl+home", "alt+<"),
			bind(s, TextEnd, "end of the text", "ctrl+end", "alt+>"),
			bind(s, EraseBack, "delete before the cursor", "backspace", "ctrl+h"),
			bind(s, EraseNext, "delete after the cursor", "delete", "ctrl+d"),
			bind(s, EraseWord, "delete the word before", "ctrl+w", "alt+backspace", "ctrl+backspace"),
			bind(s, EraseNextWord, "delete the word after", "alt+d", "alt+delete", "ctrl+delete"),
			bind(s, EraseLine, "delete to the start of the line", "ctrl+u"),
			bind(s, EraseEnd, "delete to the end of the line", "ctrl+k"),
			bind(s, Yank, "yank the last deleted text", "ctrl+y"),
		)
	}
	return all
}
