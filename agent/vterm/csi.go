package vterm

// dispatchCSI executes a control sequence.
func (t *Terminal) dispatchCSI(body []byte, final byte) {
	var p params
	if !p.parse(body) {
		return
	}
	switch {
	case p.inter != 0:
		t.csiInter(&p, final)
	case p.private == 0:
		t.csiPlain(&p, final)
	case p.private == '?':
		t.csiPrivate(&p, final)
	case p.private == '>':
		t.csiGreater(&p, final)
	case p.private == '<':
		if final == 'u' {
			t.scr.kitty.pop(p.get(0, 1))
		}
	case p.private == '=':
		t.csiEqual(&p, final)
	}
}

func (t *Terminal) csiPlain(p *params, final byte) {
	if final == 'm' {
		t.sgr(p)
		return
	}
	if t.csiMove(p, final) {
		return
	}
	n := p.get(0, 1)
	switch final {
	case '@':
		t.insertCells(n)
	case 'J':
		t.eraseDisplay(p.raw(0), false)
	case 'K':
		t.eraseLine(p.raw(0), false)
	case 'L':
		t.insertLines(n)
	case 'M':
		t.deleteLines(n)
	case 'P':
		t.deleteCells(n)
	case 'S':
		t.scrollUp(t.top, n, false)
	case 'T', '^':
		if p.n <= 1 {
			t.scrollDown(t.top, n)
		}
	case 'X':
		t.wrapPending = false
		t.erase(t.y, t.x, min(t.x+n, t.cols), false)
	case 'b':
		t.repeat(n)
	case 'c':
		if p.raw(0) == 0 {
			t.reply(primaryAttributes)
		}
	case 'g':
		t.clearTabs(p.raw(0))
	case 'h', 'l':
		for i := range p.n {
			t.setANSIMode(p.raw(i), final == 'h')
		}
	case 'n':
		t.statusReport(p.raw(0))
	case 'r':
		t.setRegion(p.get(0, 1), p.get(1, t.rows))
	case 's':
		if p.n == 0 {
			t.saveCursor()
		}
	case 'u':
		if p.n == 0 {
			t.restoreCursor()
		}
	case 't':
		t.windowOp(p)
	case 'x':
		if p.raw(0) <= 1 {
			t.replyf("\x1b[%d;1;1;128;128;1;0x", p.raw(0)+2)
		}
	}
}

// csiMove executes the sequences that only move the cursor.
func (t *Terminal) csiMove(p *params, final byte) bool {
	n := p.get(0, 1)
	switch final {
	case 'A':
		t.cursorUp(n)
	case 'B':
		t.cursorDown(n)
	case 'C', 'a':
		t.moveTo(t.x+n, t.y)
	case 'D':
		t.moveTo(t.x-n, t.y)
	case 'E':
		t.cursorDown(n)
		t.x = 0
	case 'F':
		t.cursorUp(n)
		t.x = 0
	case 'G', '`':
		t.moveTo(n-1, t.y)
	case 'H', 'f':
		t.place(n, p.get(1, 1))
	case 'I':
		t.tab(n)
	case 'Z':
		t.backTab(n)
	case 'e': // margins stop it in origin mode only
		x, line := t.x, t.y+n
		if t.modes.Origin {
			line -= t.top
		}
		t.place(line+1, 1)
		t.x = x
	case 'd':
		x := t.x
		t.place(n, 1)
		t.x = x
	default:
		return false
	}
	return true
}

func (t *Terminal) clearTabs(mode int) {
	switch mode {
	case 0:
		t.tabs[t.x] = false
	case 3:
		clear(t.tabs)
	}
}

func (t *Terminal) csiPrivate(p *params, final byte) {
	switch final {
	case 'h', 'l':
		for i := range p.n {
			t.setMode(p.raw(i), final == 'h')
		}
	case 's', 'r':
		for i := range p.n {
			t.keepMode(p.raw(i), final == 's')
		}
	case 'J':
		t.eraseDisplay(p.raw(0), true)
	case 'K':
		t.eraseLine(p.raw(0), true)
	case 'u':
		t.replyf("\x1b[?%du", t.scr.kitty.top())
	case 'n':
		t.privateStatusReport(p.raw(0))
	case 'm':
		if p.raw(0) == 4 {
			t.replyf("\x1b[>4;%dm", t.modifyKeys)
		}
	}
}

func (t *Terminal) csiGreater(p *params, final byte) {
	switch final {
	case 'c':
		if p.raw(0) == 0 {
			t.reply("\x1b[>1;10;0c")
		}
	case 'q':
		if p.raw(0) == 0 {
			t.replyf("\x1bP>|orchestrator(%s)\x1b\\", t.opts.Version)
		}
	case 'u':
		t.scr.kitty.push(uint8(p.raw(0) & 31))
	case 'm':
		switch {
		case p.n == 0, p.n == 1 && p.raw(0) == 4:
			t.modifyKeys = 0
		case p.raw(0) == 4:
			t.modifyKeys = uint8(min(p.raw(1), 2))
		}
	case 'n':
		if p.raw(0) == 4 {
			t.modifyKeys = 0
		}
	}
}

func (t *Terminal) csiEqual(p *params, final byte) {
	switch final {
	case 'c':
		if p.raw(0) == 0 {
			t.reply("\x1bP!|00000000\x1b\\")
		}
	case 'u':
		f := uint8(p.raw(0) & 31)
		switch p.get(1, 1) {
		case 1:
			t.scr.kitty.set(f)
		case 2:
			t.scr.kitty.set(t.scr.kitty.top() | f)
		case 3:
			t.scr.kitty.set(t.scr.kitty.top() &^ f)
		}
	case 'w':
		t.restoreOp(p)
	}
}

// csiInter executes sequences with intermediate bytes.
func (t *Terminal) csiInter(p *params, final byte) {
	switch {
	case p.inter == ' ' && final == 'q' && p.private == 0:
		if n := p.raw(0); n <= int(CursorSteadyBar) {
			t.cursorStyle = CursorStyle(n)
		}
	case p.inter == '!' && final == 'p':
		t.softReset()
	case p.inter == '$' && final == 'p':
		if p.private == '?' {
			t.replyf("\x1b[?%d;%d$y", p.raw(0), t.modeState(p.raw(0)))
		} else if p.private == 0 {
			t.replyf("\x1b[%d;%d$y", p.raw(0), t.ansiModeState(p.raw(0)))
		}
	case p.inter == '"' && final == 'q' && p.private == 0:
		pen := t.pen
		pen.Attr &^= Protected
		if p.raw(0) == 1 {
			pen.Attr |= Protected
		}
		t.setPen(pen)
	}
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	t.modes.Insert, t.modes.Origin, t.modes.AppCursor, t.modes.AppKeypad = false, false, false, false
	t.modes.AutoWrap, t.modes.CursorVisible = true, true
	t.top, t.bottom = 0, t.rows-1
	t.setPen(Style{})
	t.charsets = charsets{}
	t.scr.saved = savedCursor{}
	t.cursorStyle = CursorDefault
}
