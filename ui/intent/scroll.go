package intent

// copies returns the keys that copy, and open what was said.
func copies() []Binding {
	return []Binding{
		command(Global, CopyAnswer, "copy the last answer", "Y"),
		command(Tree, AgentCopy, "show what the agent wants to put on the clipboard", "y"),
		command(Global, Transcript, "open the conversation in your editor or pager"),
		bind(Timeline, Transcript, "open the conversation in your editor or pager", "e"),
		bind(Turn, Transcript, "open the conversation in your editor or pager", "e"),
		bind(Turn, Copy, "copy the code, the output of the tool or the text", "y"),
	}
}

// scroll returns the keys of scroll mode, as in vi where the table of keys leaves them free.
func scroll() []Binding {
	return []Binding{
		bind(Scroll, Up, "up", "up", "k"),
		bind(Scroll, Down, "down", "down", "j"),
		bind(Scroll, Left, "left", "left", "h"),
		bind(Scroll, Right, "right", "right", "l"),
		bind(Scroll, NextWord, "next word", "w"),
		bind(Scroll, PrevWord, "previous word", "b"),
		bind(Scroll, WordEnd, "end of the word", "e"),
		bind(Scroll, LineStart, "start of the line", "0"),
		bind(Scroll, LineText, "first text of the line", "^"),
		bind(Scroll, LineEnd, "end of the line", "$"),
		bind(Scroll, First, "first line, or the one whose number was typed", "g", "home"),
		bind(Scroll, Last, "last line, or the one whose number was typed", "G", "end"),
		bind(Scroll, ScreenTop, "top of the pane", "H"),
		bind(Scroll, ScreenMiddle, "middle of the pane", "M"),
		bind(Scroll, ScreenBottom, "bottom of the pane", "L"),
		bind(Scroll, HalfUp, "half a page up", "ctrl+u"),
		bind(Scroll, HalfDown, "half a page down", "ctrl+d"),
		bind(Scroll, PageUp, "page up", "pgup"),
		bind(Scroll, PageDown, "page down", "pgdown", "space"),
		bind(Scroll, PrevBlock, "previous block of lines", "{"),
		bind(Scroll, NextBlock, "next block of lines", "}"),
		bind(Scroll, Search, "search down", "/"),
		bind(Scroll, SearchBack, "search up", "?"),
		bind(Scroll, NextHit, "next match", "n"),
		bind(Scroll, PrevHit, "previous match", "N"),
		bind(Scroll, SelectText, "select text", "v"),
		bind(Scroll, SelectLines, "select lines", "V"),
		bind(Scroll, SelectBlock, "select a rectangle", "ctrl+v"),
		bind(Scroll, SelectOutput, "select the block of lines, such as a command's output", "o"),
		bind(Scroll, Copy, "copy the selection, or else the block of lines", "y"),
		bind(Scroll, Open, "show where the link leads, to copy or open it", "enter"),
		bind(Scroll, Cancel, "drop the selection, or leave", "esc", "ctrl+c"),
		bind(Scroll, Leave, "leave scroll mode", "q", "ctrl+q"),
		bind(Scroll, Help, "keys", "f1"),
		bind(Scroll, Palette, "all commands", "ctrl+p"),
	}
}
