package intent

import "slices"

// defaults returns the default table, in the order in which the help shows it.
func defaults() []Binding {
	var all []Binding
	for _, part := range [][]Binding{global(), threads(), scroll(), copies(), views(), servers(), peek(), inbox(), costs(), works(), waves(), dialogs(), editing()} {
		all = append(all, part...)
	}
	return all
}

func global() []Binding {
	return []Binding{
		command(Global, New, "new thread", "n"),
		command(Global, NextView, "next view", "tab"),
		command(Global, PrevView, "previous view", "shift+tab"),
		command(Tree, Turns, "timeline of its turns", "T"),
		command(Tree, Contents, "context: what fills it", "C"),
		command(Tree, ShowDiff, "diff of its last turn", "D"),
		command(Global, Menu, "menu: stop, merge, archive, push, …", "."),
		command(Global, NextWait, "next thread that needs you", "w"),
		command(Global, Back, "back: to the place that was looked at before", "alt+left"),
		command(Global, Forward, "forward again", "alt+right"),
		command(Global, LastSeen, "the thread shown before", "ctrl+alt+o"),
		command(Global, Inbox, "inbox: everything that is open for you", "I"),
		command(Global, Filter, "filter threads", "/"),
		bind(Global, Go, "go: to a thread, a turn, a view, a file", ":"),
		command(Global, Find, "search names, prompts, answers and changed files", "ctrl+f"),
		command(Global, Palette, "all commands", "ctrl+p"),
		command(Global, Money, "money: what was spent, limits of providers", "$"),
		command(Global, Work, "work: work sessions, tasks of plans and what ran in them", "W"),
		command(Global, ShowWaves, "waves: tasks of plans as graphs"),
		command(Global, Resumes, "list interrupted threads", "L"),
		command(Global, MCP, "MCP servers", "m"),
		command(Global, Agents, "installed agents", "g"),
		command(Global, Events, "events: what happened in all threads", "!"),
		command(Global, Sidebar, "show or hide the side bar", "b"),
		command(Global, Narrower, "narrower list", "<"),
		command(Global, Wider, "wider list", ">"),
		command(Global, Layout, "layout: one thread, stack, columns, wall", "V"),
		command(Global, Zoom, "zoom the pane, or show all again", "+"),
		command(Global, ScrollMode, "scroll mode: read, search and copy in the terminal", "["),
		command(Global, Undo, "undo the last action", "u"),
		command(Global, Help, "keys", "?"),
		command(Global, Redraw, "redraw", "ctrl+l"),
		command(Global, Restart, "restart the server with this program", "ctrl+r"),
		command(Global, Suspend, "suspend to the shell (fg to return)", "ctrl+z"),
		command(Global, Quit, "quit (agents keep running)", "q", "ctrl+c"),
		bind(Global, Leave, "back to threads", "ctrl+q", "esc"),
		bind(Terminal, Leave, "back to threads", "ctrl+q"),
		bind(Terminal, NextWait, "next thread that needs you", "ctrl+alt+w"),
		bind(Terminal, LastSeen, "the thread shown before", "ctrl+alt+o"),
	}
}

func threads() []Binding {
	all := []Binding{
		bind(Tree, Up, "thread above", "up", "k"),
		bind(Tree, Down, "thread below", "down", "j"),
		bind(Tree, PageUp, "page up", "pgup"),
		bind(Tree, PageDown, "page down", "pgdown"),
		bind(Tree, First, "first thread", "home"),
		bind(Tree, Last, "last thread", "end", "G"),
		bind(Tree, Fold, "collapse forks and runs", "left", "h"),
		bind(Tree, Unfold, "expand forks and runs", "right", "l"),
		command(Tree, FoldAll, "fold or unfold the quiet threads", "z"),
		command(Tree, PureTree, "the tree of all threads, or groups again", "t"),
		command(Tree, Density, "one or two rows a thread", "-"),
		command(Tree, Focus, "open", "enter"),
		command(Tree, Peek, "peek: what it asks or answered last, without entering", "space"),
		command(Global, Send, "send a prompt", "i"),
		command(Global, Prompts, "waiting and unanswered prompts", "p"),
		command(Global, Fork, "fork here", "f"),
		command(Global, ForkAt, "fork at a turn", "F"),
		command(Global, Pin, "pin or unpin", "P"),
		command(Tree, Read, "mark as read", "d"),
		command(Tree, Mark, "mark for i, d and the menu", "v"),
		command(Global, Why, "explain the state", "E"),
		bind(Question, Yes, "approve what the agent asks for, unless text follows", "a"),
		bind(Question, Always, "approve it and what is alike, as the dialog offers", "A"),
		bind(Question, No, "deny it", "x"),
		command(Question, Reply, "reply in your own words", "r"),
		command(Offer, TakeOffer, "accept what is offered, unless text follows", "a"),
		command(Offer, DismissOffer, "dismiss the offer", "x"),
		bind(Tree, Yes, "approve, where the agent asks", "a"),
		bind(Tree, Always, "approve for good, where the agent asks", "A"),
		bind(Tree, No, "deny, where the agent asks", "x"),
		bind(Tree, Reply, "reply, where the agent asks, or ask an ended run again", "r"),
	}
	return append(all, acts(ThreadMenu)...)
}

// acts returns the keys of a menu for what can be done with a thread. They are in the command palette, and there is a
// binding without keys for each of them everywhere, which takes the person's own keys.
func acts(s Scope) []Binding {
	all := []Binding{
		bind(s, Stop, "stop the agent (ctrl+s: at once)", "s"),
		bind(s, StopNow, "stop the agent at once", "ctrl+s"),
		bind(s, Resume, "resume or start the agent", "r"),
		bind(s, Rename, "rename", "n"),
		bind(s, Merge, "merge into its parent or another thread", "m"),
		bind(s, Finish, "finish: merge, archive, remove the worktree", "f"),
		bind(s, Abandon, "abandon with a reason", "x"),
		bind(s, Archive, "archive or restore (ctrl+a: at once)", "a"),
		bind(s, FileAway, "archive or restore at once", "ctrl+a"),
		bind(s, Delete, "delete", "d"),
		bind(s, Push, "push its branch", "p"),
		bind(s, PR, "push, and open a pull request", "o"),
		bind(s, Export, "export the thread to a file", "e"),
		bind(s, Grants, "grants: what its agent may do with other threads", "g"),
		bind(s, Remember, "remember as a profile how it was started", "l"),
	}
	if s == ThreadMenu {
		all = append(all,
			bind(s, CancelRun, "cancel the run", "k"),
			bind(s, ResumeRun, "go on with the lost or failed run", "u"),
			bind(s, FallbackRun, "have the fallback of the failed run go on", "b"),
			bind(s, Archived, "show or hide the archive", "z"),
			bind(s, OffersOff, "fork offers: suggest, auto or off", "t"),
			bind(s, ResumeAll, "resume all interrupted threads", "A"),
			bind(s, Import, "import a thread from a file", "i"),
			bind(s, Collect, "delete old archived threads", "c"),
		)
		for _, b := range slices.Clone(all) {
			all = append(all, command(Global, b.Action, b.Description()))
		}
	}
	return append(all, menu(s)...)
}

// menu returns the keys of every menu.
func menu(s Scope) []Binding {
	return []Binding{
		bind(s, Up, "up", "up"),
		bind(s, Down, "down", "down"),
		bind(s, Accept, "select", "enter"),
		bind(s, Cancel, "close", "esc", "q", ".", "ctrl+q", "ctrl+c"),
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
		bind(Turn, FoldAll, "expand or collapse all tool calls", "z"),
		bind(Turn, Older, "previous turn", "{", "left"),
		bind(Turn, Newer, "next turn", "}", "right"),
		command(Turn, ForkAt, "fork at this turn", "F"),
		command(Turn, Rewind, "rewind to this turn", "R"),
		bind(Turn, Search, "search", "/"),
	)
	all = append(all, scrolls(Diff)...)
	all = append(all,
		bind(Diff, Leave, "back to threads", "esc", "q", "ctrl+q"),
		bind(Diff, NextFile, "next file", "right", "l"),
		bind(Diff, PrevFile, "previous file", "left", "h"),
		bind(Diff, Base, "switch between base and turn diffs", "B"),
		bind(Diff, Older, "previous turn", "{"),
		bind(Diff, Newer, "next turn", "}"),
		command(Diff, Editor, "open the file in your editor", "enter", "e"),
		bind(Diff, Search, "search", "/"),
		bind(Searching, NextHit, "next match", "n"),
		bind(Searching, PrevHit, "previous match", "N"),
		bind(Searching, EndSearch, "end the search", "esc"),
	)
	all = append(all, scrolls(Context)...)
	all = append(all,
		command(Context, Mask, "mask or unmask the result", "M"),
		command(Context, PinResult, "pin or unpin the result: never mask it", "P"),
		command(Context, MaskAll, "mask all that can be masked now", "A"),
		command(Context, Summarise, "summarise older turns, or read and drop their summary", "s"),
		command(Context, Open, "show the result", "enter"),
		command(Context, Why, "explain why the result is masked, kept or sent", "E"),
		bind(Context, Search, "filter results", "/"),
		bind(Context, Menu, "menu", "."),
		bind(Context, Leave, "back to threads", "esc", "q", "ctrl+q"),
		command(Context, MaskMode, "choose how much is masked"),
		command(Context, About, "facts about the thread: usage, folder, branch"),
		bind(ContextMenu, MaskMode, "choose how much is masked", "k"),
		bind(ContextMenu, About, "facts about the thread: usage, folder, branch", "i"),
	)
	return append(all, acts(ContextMenu)...)
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
		bind(Servers, Tool, "open: its tools one by one", "enter"),
		bind(Servers, Approve, "show exactly what is started, and accept it", "a"),
		bind(Servers, Open, "explain: details", "E"),
		bind(Servers, Log, "output: its log", "o"),
		bind(Servers, Sort, "order by tokens, name, state or last call", "O"),
		bind(Servers, Menu, "menu: restart, switch off at once, sign in, problems", "."),
		bind(Servers, Relaunch, "restart"),
		bind(Servers, SwitchNow, "switch off at once"),
		bind(Servers, SignIn, "sign in"),
		bind(Servers, Problems, "problems, and what is outside our control"),
		bind(Servers, Help, "keys", "?"),
		bind(Servers, Cancel, "close", "esc", "q", "m", "ctrl+q", "ctrl+c"),
	)
	all = append(all,
		bind(ServersMenu, Relaunch, "restart", "r"),
		bind(ServersMenu, SwitchNow, "switch off at once", "x"),
		bind(ServersMenu, SignIn, "sign in", "s"),
		bind(ServersMenu, Problems, "problems, and what is outside our control", "p"),
	)
	all = append(append(all, menu(ServersMenu)...), rows(Tools)...)
	return append(all,
		bind(Tools, Toggle, "switch the tool on or off", "space"),
		bind(Tools, Open, "details", "enter"),
		bind(Tools, Approve, "accept tools that have changed", "a"),
		bind(Tools, Help, "keys", "?"),
		bind(Tools, Cancel, "back", "esc", "q", "ctrl+q", "ctrl+c"),
	)
}

func costs() []Binding {
	return append(rows(Costs),
		bind(Costs, Left, "shorter period", "h", "left"),
		bind(Costs, Right, "longer period", "l", "right"),
		bind(Costs, NextField, "by model, agent, thread, work session", "tab"),
		bind(Costs, PrevField, "by work session, thread, agent, model", "shift+tab"),
		bind(Costs, Open, "go to the thread", "enter"),
		bind(Costs, Cancel, "close", "esc", "q", "$", "ctrl+q", "ctrl+c"),
	)
}

func works() []Binding {
	all := append(rows(Works),
		bind(Works, Open, "open: the thread, else what it was given and said", "enter"),
		bind(Works, Why, "explain: what it was given, said and made", "E", "space"),
		bind(Works, Unfold, "unfold", "right", "l"),
		bind(Works, Fold, "fold, or up", "left", "h"),
		bind(Works, Yes, "proceed with what waits for you", "a"),
		bind(Works, No, "cancel what waits for you", "x"),
		bind(Works, NextField, "tasks of plans", "tab", "shift+tab"),
		bind(Works, Money, "money by work session", "$"),
		bind(Works, Cancel, "close", "esc", "q", "W", "ctrl+q", "ctrl+c"),
	)
	all = append(all, scrolls(WorkPage)...)
	return append(all,
		bind(WorkPage, Open, "open the output: its file or its text", "enter"),
		bind(WorkPage, Cancel, "back", "esc", "q", "ctrl+q", "ctrl+c"),
	)
}

func waves() []Binding {
	all := append(rows(Waves),
		bind(Waves, Open, "open the graph of the task", "enter"),
		bind(Waves, Yes, "yes to what the task asks, unless text follows", "a"),
		bind(Waves, No, "no to it", "x"),
		bind(Waves, New, "add a task", "n"),
		bind(Waves, Menu, "menu: begin, edit, split, retry, cancel", "."),
		bind(Waves, NextField, "work sessions", "tab", "shift+tab"),
		bind(Waves, Cancel, "close", "esc", "q", "W", "ctrl+q", "ctrl+c"),
	)
	all = append(append(all, rows(Graph)...),
		bind(Graph, Left, "wave before", "left", "h"),
		bind(Graph, Right, "next wave", "right", "l"),
		bind(Graph, Open, "open the thread of the agent, or the question", "enter"),
		bind(Graph, Yes, "yes to what is asked, unless text follows", "a"),
		bind(Graph, No, "no to it", "x"),
		bind(Graph, Why, "explain: what it handed over, why it failed", "E", "space"),
		bind(Graph, NextField, "next that needs you: asks, failed, stalled, stale", "tab"),
		bind(Graph, Menu, "menu: begin again, cancel", "."),
		bind(Graph, Cancel, "back", "esc", "q", "ctrl+q", "ctrl+c"),
	)
	all = append(all,
		bind(WavesMenu, New, "add a task", "n"),
		bind(WavesMenu, SplitText, "split a text into tasks", "s"),
		bind(WavesMenu, EditTask, "edit it", "e"),
		bind(WavesMenu, BeginTask, "begin it", "b"),
		bind(WavesMenu, BeginAll, "begin all that are proposed", "A"),
		bind(WavesMenu, RetryNode, "begin the agent again", "r"),
		bind(WavesMenu, RetryFrom, "begin it again, and all that follows", "f"),
		bind(WavesMenu, RetryFailed, "begin the failed agents again", "F"),
		bind(WavesMenu, CancelTask, "cancel the task", "x"),
	)
	return append(all, menu(WavesMenu)...)
}

func peek() []Binding {
	return []Binding{
		bind(Peeking, Up, "thread above", "up", "k"),
		bind(Peeking, Down, "next thread", "down", "j"),
		bind(Peeking, First, "first thread", "home"),
		bind(Peeking, Last, "last thread", "end", "G"),
		bind(Peeking, PageUp, "scroll up", "pgup", "ctrl+u"),
		bind(Peeking, PageDown, "scroll down", "pgdown", "ctrl+d"),
		bind(Peeking, Open, "open the thread", "enter"),
		bind(Peeking, Cancel, "close", "space", "esc", "q", "ctrl+q", "ctrl+c"),
	}
}

func inbox() []Binding {
	return append(rows(Items),
		bind(Items, Open, "open", "enter"),
		bind(Items, Yes, "approve, accept or resume, unless text follows", "a"),
		bind(Items, Always, "approve it and what is alike", "A"),
		bind(Items, No, "deny or dismiss", "x"),
		bind(Items, Reply, "reply in your own words", "r"),
		bind(Items, Prompts, "its prompts", "p"),
		bind(Items, Read, "mark as read", "d"),
		bind(Items, Cancel, "close", "esc", "q", "I", "ctrl+q", "ctrl+c"),
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
		bind(Confirm, Submit, "choose the first answer that does something", "ctrl+s"),
		bind(Confirm, Cancel, "cancel", "esc", "ctrl+q", "ctrl+c"),
		bind(Confirm, Up, "up", "up"),
		bind(Confirm, Down, "down", "down"),
		bind(Confirm, PageUp, "page up", "pgup"),
		bind(Confirm, PageDown, "page down", "pgdown"),
	)
	all = append(all,
		bind(Resuming, Up, "up", "up", "k"),
		bind(Resuming, Down, "down", "down", "j"),
		bind(Resuming, ResumeOne, "resume this thread", "enter"),
		bind(Resuming, ResumeAll, "resume all", "A"),
		bind(Resuming, Cancel, "later", "esc", "q", "ctrl+q", "ctrl+c"),
	)
	return append(all,
		bind(Form, Accept, "submit", "enter"),
		bind(Form, Submit, "submit too", "ctrl+s"),
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
		bind(Field, NextField, "complete", "tab"),
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
