package vterm

// Modes returns the modes in force.
func (t *Terminal) Modes() Modes {
	m := t.modes
	m.AltScreen = t.scr == &t.alt
	m.Kitty = t.scr.kitty.top()
	m.ModifyOther = t.modifyKeys
	for i, on := range t.flags.mouse {
		if on {
			m.Mouse = MouseMode(i)
		}
	}
	for i, on := range t.flags.enc {
		if on {
			m.MouseEncoding = MouseEncoding(i)
		}
	}
	return m
}

// modeFlag returns the flag for a DEC private mode that only switches a flag.
func (t *Terminal) modeFlag(n int) *bool {
	switch n {
	case 1:
		return &t.modes.AppCursor
	case 5:
		return &t.modes.ReverseVideo
	case 6:
		return &t.modes.Origin
	case 7:
		return &t.modes.AutoWrap
	case 9:
		return &t.flags.mouse[MouseX10]
	case 12:
		return &t.modes.CursorBlink
	case 25:
		return &t.modes.CursorVisible
	case 66:
		return &t.modes.AppKeypad
	case 1000:
		return &t.flags.mouse[MouseNormal]
	case 1002:
		return &t.flags.mouse[MouseButton]
	case 1003:
		return &t.flags.mouse[MouseAny]
	case 1004:
		return &t.modes.Focus
	case 1005:
		return &t.flags.enc[MouseUTF8]
	case 1006:
		return &t.flags.enc[MouseSGR]
	case 1007:
		return &t.modes.AltScroll
	case 1015:
		return &t.flags.enc[MouseURXVT]
	case 2004:
		return &t.modes.BracketedPaste
	case 2026:
		return &t.modes.Sync
	case 2027:
		return &t.modes.Graphemes
	case 2031:
		return &t.modes.ColorScheme
	}
	return nil
}

// switchModes are the modes that modeFlag knows, in the order a snapshot sets them.
var switchModes = [...]int{
	1, 5, 7, 9, 12, 25, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 2004, 2027, 2031, 6, 2026,
}

// setMode sets or resets a DEC private mode.
func (t *Terminal) setMode(n int, on bool) {
	switch n {
	case 47:
		t.useAlt(on)
		return
	case 1047:
		if !on && t.scr == &t.alt {
			t.clearScreen()
		}
		t.useAlt(on)
		return
	case 1048:
		if on {
			t.saveCursor()
		} else {
			t.restoreCursor()
		}
		return
	case 1049:
		t.altWithCursor(on)
		return
	}
	f := t.modeFlag(n)
	if f == nil {
		return
	}
	was := *f
	*f = on
	switch n {
	case 5:
		if was != on {
			t.touchAll()
		}
	case 6:
		t.place(1, 1)
	case 7:
		t.wrapPending = t.wrapPending && on
	}
}

// altWithCursor is mode 1049. As in xterm, the cursor comes back even where the main screen was left on.
func (t *Terminal) altWithCursor(on bool) {
	if on {
		t.saveCursor()
		t.useAlt(true)
		t.clearScreen()
		return
	}
	t.useAlt(false)
	t.restoreCursor()
}

func (t *Terminal) useAlt(on bool) {
	to := &t.main
	if on {
		to = &t.alt
	}
	if t.scr != to {
		t.scr = to
		t.joinable = false
		t.touchAll()
	}
}

func (t *Terminal) clearScreen() {
	blank := t.blank()
	for _, r := range t.scr.rows {
		t.clearRow(r, blank)
	}
}

// keepMode is XTSAVE and XTRESTORE.
func (t *Terminal) keepMode(n int, save bool) {
	f := t.modeFlag(n)
	if f == nil && n != 47 && n != 1047 && n != 1049 {
		return
	}
	if save {
		if t.savedModes == nil {
			t.savedModes = make(map[int]bool)
		}
		t.savedModes[n] = t.modeState(n) == 1
		return
	}
	if on, ok := t.savedModes[n]; ok && t.modeState(n) == 1 != on {
		t.setMode(n, on)
	}
}

// modeState is the answer to DECRQM: 0 unknown, 1 set, 2 reset, 4 never set.
func (t *Terminal) modeState(n int) int {
	state := func(on bool) int {
		if on {
			return 1
		}
		return 2
	}
	if f := t.modeFlag(n); f != nil {
		return state(*f)
	}
	switch n {
	case 47, 1047, 1049:
		return state(t.scr == &t.alt)
	case 1048:
		return state(t.scr.saved.set)
	case 3, 4, 8, 40, 45:
		return 4
	}
	return 0
}

func (t *Terminal) setANSIMode(n int, on bool) {
	switch n {
	case 4:
		t.modes.Insert = on
	case 20:
		t.modes.NewLine = on
	}
}

func (t *Terminal) ansiModeState(n int) int {
	on := false
	switch n {
	case 4:
		on = t.modes.Insert
	case 20:
		on = t.modes.NewLine
	default:
		return 0
	}
	if on {
		return 1
	}
	return 2
}
