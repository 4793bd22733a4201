package vterm

// dispatchEsc executes ESC inter final.
func (t *Terminal) dispatchEsc(inter []byte, final byte) {
	if len(inter) == 1 {
		switch inter[0] {
		case '(', ')', '*', '+':
			if final == 'B' {
				final = 0
			}
			t.charsets.g[inter[0]-'('] = final
		case '#':
			if final == '8' {
				t.align()
			}
		}
		return
	}
	if len(inter) > 1 {
		return
	}
	switch final {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case 'D':
		t.wrapPending, t.joinable = false, false
		t.index()
	case 'E':
		t.wrapPending, t.joinable = false, false
		t.x = 0
		t.index()
	case 'H':
		t.tabs[t.x] = true
	case 'M':
		t.reverseIndex()
	case 'N':
		t.charsets.single = 2
	case 'O':
		t.charsets.single = 3
	case 'n':
		t.charsets.gl = 2
	case 'o':
		t.charsets.gl = 3
	case 'Z':
		t.reply(primaryAttributes)
	case 'c':
		t.reset()
	case '=':
		t.modes.AppKeypad = true
	case '>':
		t.modes.AppKeypad = false
	}
}
