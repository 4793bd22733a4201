package typing

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hold is what an input may contain of a person's text, as far as the keystrokes tell.
type Hold int

// The holds. Perhaps follows keys whose effect only the program knows: history, completion, Esc.
const (
	Nothing Hold = iota
	Perhaps
	Text
)

// Effect is the effect of some bytes from a person.
type Effect struct {
	Key    bool // there was a key among them, and not only terminal reports such as mouse and focus
	Sent   bool // return was pressed with text
	Cancel bool // ctrl+c was pressed
}

// Keys follows what a person types since the last return. The zero value is an empty input.
type Keys struct {
	hold  Hold
	typed []rune // the typed text, newest last; all of it while exact
	exact bool   // the cursor is after the last character

	pasting bool
	rest    []byte // an incomplete sequence
}

// Hold returns what the input may contain.
func (k *Keys) Hold() Hold { return k.hold }

// Empty records that the input is known to be empty.
func (k *Keys) Empty() { *k = Keys{pasting: k.pasting, rest: k.rest} }

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// maxSequence is the longest terminal sequence whose end is waited for.
const maxSequence = 4096

// maxTyped is how many characters are tracked.
const maxTyped = 4096

// Typed processes bytes as they go to the program.
func (k *Keys) Typed(b []byte) Effect {
	var e Effect
	if len(k.rest) > 0 {
		b = append(k.rest, b...)
		k.rest = nil
	}
	for len(b) > 0 {
		if k.pasting {
			b = k.pasted(b, &e)
			continue
		}
		if bytes.HasPrefix(b, pasteBegin) {
			b, k.pasting = b[len(pasteBegin):], true
			continue
		}
		n, whole := k.one(b, &e)
		if !whole && len(b) < maxSequence {
			k.rest = bytes.Clone(b)
			return e
		}
		b = b[max(n, 1):]
	}
	return e
}

// Elsewhere processes bytes that go to the program but not into its input, as to a menu.
func (k *Keys) Elsewhere(b []byte) Effect {
	before := *k
	before.typed = slices.Clone(k.typed)
	e := k.Typed(b)
	before.pasting, before.rest = k.pasting, k.rest
	*k = before
	return e
}

// pasted processes bytes within a paste and returns those after it.
func (k *Keys) pasted(b []byte, e *Effect) []byte {
	text, after, ended := bytes.Cut(b, pasteEnd)
	if !ended {
		// The end marker of the paste may be incomplete.
		for n := min(len(pasteEnd)-1, len(b)); n > 0; n-- {
			if bytes.HasSuffix(b, pasteEnd[:n]) {
				text, k.rest = b[:len(b)-n], bytes.Clone(b[len(b)-n:])
				break
			}
		}
	}
	if len(text) > 0 {
		e.Key = true
		k.text(string(text))
	}
	k.pasting = !ended
	return after
}

// one processes the key or report at the beginning of bytes. It returns its length, and false if it is incomplete.
func (k *Keys) one(b []byte, e *Effect) (n int, whole bool) {
	switch c := b[0]; {
	case c == 0x1b:
		return k.escape(b, e)
	case c < 0x20 || c == 0x7f:
		e.Key = true
		k.control(c, e)
		return 1, true
	}
	if !utf8.FullRune(b) {
		return 0, false
	}
	_, n = utf8.DecodeRune(b)
	e.Key = true
	k.text(string(b[:n]))
	return n, true
}

// control processes a control character.
func (k *Keys) control(c byte, e *Effect) {
	switch c {
	case '\r':
		k.enter(e)
	case '\n':
		k.text("\n")
	case 0x7f, 0x08:
		k.backspace()
	case 0x03: // ctrl+c
		e.Cancel = true
		k.Empty()
	case 0x15: // ctrl+u
		switch {
		case k.hold == Nothing: // nothing to delete
		case k.exact && !slices.Contains(k.typed, '\n'):
			k.Empty()
		default:
			k.unsure()
		}
	case 0x17: // ctrl+w
		if k.hold != Nothing {
			k.unsure()
		}
	case 0x01, 0x02: // ctrl+a, ctrl+b
		k.exact = false
	case 0x00, 0x04, 0x0b: // ctrl+space, ctrl+d, ctrl+k: nothing is after the cursor, or the text stays
	default:
		k.unsure()
	}
}

// enter processes a return.
func (k *Keys) enter(e *Effect) {
	if n := len(k.typed); n > 0 && k.typed[n-1] == '\\' { // a line break in most programs
		k.text("\n")
		return
	}
	e.Sent = e.Sent || k.hold != Nothing
	k.Empty()
}

func (k *Keys) backspace() {
	switch {
	case k.hold != Text || !k.exact:
	case len(k.typed) <= 1:
		k.Empty()
	default:
		k.typed = k.typed[:len(k.typed)-1]
	}
}

// text processes characters.
func (k *Keys) text(s string) {
	if k.hold == Nothing {
		k.exact = true
	}
	k.hold = Text
	k.typed = append(k.typed, []rune(strings.ReplaceAll(s, "\r", "\n"))...)
	if n := len(k.typed); n > maxTyped {
		k.typed, k.exact = append([]rune(nil), k.typed[n-maxTyped/2:]...), false
	}
}

// unsure processes a key whose effect only the program knows.
func (k *Keys) unsure() { k.hold, k.exact, k.typed = Perhaps, false, nil }

// escape processes a sequence that begins with ESC.
func (k *Keys) escape(b []byte, e *Effect) (n int, whole bool) {
	if len(b) == 1 {
		e.Key = true
		k.unsure()
		return 1, true
	}
	switch b[1] {
	case '[':
		return k.csi(b, e)
	case 'O':
		if len(b) < 3 {
			return 0, false
		}
		e.Key = true
		if b[2] == 'M' {
			k.enter(e)
		} else {
			k.move(b[2])
		}
		return 3, true
	case ']', 'P', '_', '^', 'X': // a reply of the terminal
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 || b[i] == '\\' && b[i-1] == 0x1b {
				return i + 1, true
			}
		}
		return 0, false
	case '\r', '\n':
		e.Key = true
		k.text("\n")
		return 2, true
	case 0x1b: // Esc, and the next key
		e.Key = true
		k.unsure()
		return 1, true
	default: // alt and a key
		e.Key = true
		k.unsure()
		return 2, true
	}
}

// csi processes a sequence that begins with ESC [.
func (k *Keys) csi(b []byte, e *Effect) (n int, whole bool) {
	end := -1
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			end = i
			break
		}
	}
	if end < 0 {
		return 0, false
	}
	body, final := string(b[2:end]), b[end]
	switch {
	case final == 'M' && body == "": // the mouse in the legacy format: three bytes follow
		return end + 4, len(b) >= end+4
	case body != "" && strings.ContainsRune("<?>=", rune(body[0])), strings.IndexByte("MmIORcnyt", final) >= 0:
		return end + 1, true // the mouse, the focus, a reply of the terminal
	case final == 'u':
		k.coded(body, e)
	case final == '~':
		k.numbered(body, e)
	default:
		e.Key = true
		k.move(final)
	}
	return end + 1, true
}

// move processes a cursor key.
func (k *Keys) move(final byte) {
	switch final {
	case 'D', 'H': // left, home
		k.exact = false
	case 'Z': // shift+tab
	default: // up and down recall, right and end complete
		k.unsure()
	}
}

// numbered processes a key of the form ESC [ n ~.
func (k *Keys) numbered(body string, e *Effect) {
	part := strings.Split(body, ";")
	e.Key = true
	switch part[0] {
	case "27": // modifyOtherKeys
		if len(part) == 3 {
			k.coded(part[2]+";"+part[1], e)
		}
	case "1", "7": // home
		k.exact = false
	case "2", "3", "5", "6": // insert, delete, pages
	default:
		k.unsure()
	}
}

// The modifiers of kitty's encoding, minus one.
const (
	shift = 1 << iota
	alt
	ctrl
)

// coded processes a key in kitty's encoding: code[:others][;modifiers[:event][;text]].
func (k *Keys) coded(body string, e *Effect) {
	part := strings.Split(body, ";")
	field := func(i int) []string {
		if i < len(part) {
			return strings.Split(part[i], ":")
		}
		return []string{""}
	}
	code, err := strconv.Atoi(field(0)[0])
	if err != nil {
		return
	}
	mods := 0
	if m := field(1); m[0] != "" {
		if mods, err = strconv.Atoi(m[0]); err != nil {
			return
		}
		mods--
		if len(m) > 1 && m[1] == "3" {
			return // key release
		}
	}
	mods &= shift | alt | ctrl // no locks
	e.Key = true
	const functional, keypadEnter = 57344, 57414
	switch {
	case (code == '\r' || code == keypadEnter) && mods == 0:
		k.enter(e)
	case code == '\r' || code == keypadEnter:
		k.text("\n")
	case code == 0x7f && mods&(alt|ctrl) == 0:
		k.backspace()
	case code < 0x20 || code == 0x7f:
		k.unsure()
	case code >= functional && code < 63744: // modifiers alone, media keys
	case mods&alt != 0:
		k.unsure()
	case mods&ctrl != 0:
		k.control(byte(code)&0x1f, e)
	default:
		k.text(string(rune(code)))
	}
}
