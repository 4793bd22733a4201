package vterm

import "unicode/utf8"

// Write processes a program's output. It accepts all bytes and never fails.
func (t *Terminal) Write(b []byte) (int, error) {
	n := len(b)
	if n > 0 {
		t.gen++
	}
	for len(b) > 0 {
		if t.parser.state == stGround {
			b = t.ground(b)
		} else {
			b = t.inSequence(b)
		}
	}
	return n, nil
}

// ground prints and executes up to the start of a sequence that does not end in b.
func (t *Terminal) ground(b []byte) []byte {
	if t.parser.u8n > 0 {
		b = t.continueRune(b)
	}
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			j := i + 1
			for j < len(b) && b[j]-0x20 < 0x5f {
				j++
			}
			t.printASCII(b[i:j])
			i = j
		case c == 0x1b:
			if i+2 < len(b) && b[i+1] == '[' {
				if n := t.wholeCSI(b[i+2:]); n > 0 {
					i += 2 + n
					continue
				}
			}
			t.begin(stEsc)
			return b[i+1:]
		case c < 0x20:
			t.control(c)
			i++
		case c == 0x7f:
			i++
		default:
			n := t.printUTF8(b[i:])
			if n == 0 {
				t.parser.u8n = copy(t.parser.u8[:], b[i:])
				return nil
			}
			i += n
		}
	}
	return nil
}

// printUTF8 prints the first code point of b, or U+FFFD for the longest broken prefix of one. It returns
// 0 if b is the beginning of a code point.
func (t *Terminal) printUTF8(b []byte) int {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		if !utf8.FullRune(b) {
			return 0
		}
		n = brokenPrefix(b)
	}
	t.printRune(r)
	return n
}

// brokenPrefix returns the length of the longest beginning of a code point at the start of b.
func brokenPrefix(b []byte) int {
	n := 1
	for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) {
		if utf8.FullRune(b[:n+1]) {
			break
		}
		n++
	}
	return n
}

// continueRune completes the code point that the last write cut.
func (t *Terminal) continueRune(b []byte) []byte {
	p := &t.parser
	for len(b) > 0 && p.u8n > 0 {
		buf := append(p.u8[:p.u8n:p.u8n], b[0])
		if !utf8.FullRune(buf) {
			p.u8[p.u8n] = b[0]
			p.u8n++
			b = b[1:]
			continue
		}
		p.u8n = 0
		r, n := utf8.DecodeRune(buf)
		t.printRune(r)
		if r != utf8.RuneError || n > 1 {
			b = b[1:]
		}
	}
	return b
}

// wholeCSI executes a control sequence that ends within b and contains no control characters. It returns the length of
// the sequence, 0 if it has to be parsed byte by byte.
func (t *Terminal) wholeCSI(b []byte) int {
	for i, c := range b {
		if c >= 0x40 {
			if c > 0x7e || i >= maxSeq {
				return 0
			}
			t.dispatchCSI(b[:i], c)
			return i + 1
		}
		if c < 0x20 {
			return 0
		}
	}
	return 0
}

func (t *Terminal) begin(s parserState) {
	p := &t.parser
	p.state, p.over, p.seq, p.str = s, false, p.seq[:0], p.str[:0]
	if cap(p.str) > maxDCS {
		p.str = nil
	}
}

// inSequence processes bytes while a sequence is open.
func (t *Terminal) inSequence(b []byte) []byte {
	p := &t.parser
	if p.state >= stOSC && p.state != stDCSHead {
		return t.inString(b)
	}
	c := b[0]
	switch {
	case c == 0x1b:
		t.begin(stEsc)
	case c == 0x18 || c == 0x1a:
		t.begin(stGround)
	case c < 0x20:
		if p.state != stDCSHead {
			t.control(c)
		}
	case c == 0x7f:
	case c >= 0x80:
		t.begin(stGround)
		return b
	case p.state == stEsc:
		t.inEscape(c)
	case c < 0x40:
		if len(p.seq) < maxSeq {
			p.seq = append(p.seq, c)
		} else {
			p.over = true
		}
	case p.state == stDCSHead:
		p.seq = append(p.seq, c)
		p.state = stDCS
	default:
		p.state = stGround
		if !p.over {
			t.dispatchCSI(p.seq, c)
		}
	}
	return b[1:]
}

// inEscape processes one byte after ESC.
func (t *Terminal) inEscape(c byte) {
	p := &t.parser
	if c < 0x30 {
		if len(p.seq) < 4 {
			p.seq = append(p.seq, c)
		}
		return
	}
	if len(p.seq) == 0 {
		switch c {
		case '[':
			t.begin(stCSI)
			return
		case ']':
			t.begin(stOSC)
			return
		case 'P':
			t.begin(stDCSHead)
			return
		case 'X', '^', '_', 'k':
			t.begin(stIgnore)
			return
		}
	}
	p.state = stGround
	t.dispatchEsc(p.seq, c)
}

// inString processes the payload of an OSC, DCS or ignored string up to its end.
func (t *Terminal) inString(b []byte) []byte {
	p := &t.parser
	limit := maxString
	if p.state == stDCS {
		limit = maxDCS
	}
	for i, c := range b {
		if c >= 0x20 && c != 0x7f {
			continue
		}
		t.keep(b[:i], limit)
		b = b[i+1:]
		switch {
		case c == 0x1b:
			t.endString(false)
			t.begin(stEsc)
		case c == 0x07 && p.state == stOSC:
			t.endString(true)
			t.begin(stGround)
		case c == 0x18 || c == 0x1a:
			t.begin(stGround)
		}
		return b
	}
	t.keep(b, limit)
	return nil
}

func (t *Terminal) keep(b []byte, limit int) {
	p := &t.parser
	if p.state == stIgnore || p.over {
		return
	}
	if len(p.str)+len(b) > limit {
		p.over, p.str = true, nil
		return
	}
	p.str = append(p.str, b...)
}

func (t *Terminal) endString(bel bool) {
	p := &t.parser
	if p.over {
		return
	}
	p.bel = bel
	switch p.state {
	case stOSC:
		t.dispatchOSC(p.str)
	case stDCS:
		t.dispatchDCS(p.seq, p.str)
	default:
	}
}
