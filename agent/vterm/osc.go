package vterm

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxTitle = 1024 // bytes of a title or other reported text

// clean makes a text safe to show: valid UTF-8, without controls and characters that hide or reorder.
func clean(b []byte, limit int) string {
	if len(b) > limit {
		b = b[:limit]
		for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
		if len(b) > 0 && b[len(b)-1] >= 0xc0 {
			b = b[:len(b)-1]
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r != 0x200d && r >= 0xa0 && invisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), "\ufffd"))
}

// dispatchOSC executes an operating system command.
func (t *Terminal) dispatchOSC(s []byte) {
	num, rest, _ := bytes.Cut(s, []byte{';'})
	n, err := strconv.Atoi(string(num))
	if err != nil || len(num) > 5 {
		return
	}
	switch n {
	case 0:
		t.icon = clean(rest, maxTitle)
		t.setTitle(t.icon)
	case 1:
		t.icon = clean(rest, maxTitle)
	case 2:
		t.setTitle(clean(rest, maxTitle))
	case 4:
		t.oscPalette(string(rest))
	case 8:
		t.oscLink(rest)
	case 9:
		t.oscNotify(rest)
	case 10, 11, 12:
		t.oscColors(n, string(rest))
	case 52:
		t.oscClipboard(rest)
	case 104:
		t.oscResetPalette(string(rest))
	case 110:
		t.fg = 0
	case 111:
		t.bg = 0
	case 112:
		t.cur = 0
	case 777:
		if parts := bytes.SplitN(rest, []byte{';'}, 3); len(parts) == 3 && string(parts[0]) == "notify" {
			t.emit(Notification{Title: clean(parts[1], maxTitle), Body: clean(parts[2], maxTitle)})
		}
	case 7501:
		t.oscStatus(rest)
	}
}

func (t *Terminal) oscLink(b []byte) {
	args, uri, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	pen := t.pen
	pen.Link = 0
	if len(uri) > 0 {
		id := ""
		for _, kv := range strings.Split(string(args), ":") {
			if v, ok := strings.CutPrefix(kv, "id="); ok {
				id = v
			}
		}
		if len(uri) <= maxLinkBytes && isPage(uri) {
			pen.Link = t.linkID(link{uri: clean(uri, maxLinkBytes), id: id})
		}
	}
	t.setPen(pen)
}

// maxClipboard is how many bytes a program may put on the clipboard, as other terminals limit it.
const maxClipboard = 74994

// oscClipboard reports a text for the clipboard. Questions for what is on it are not answered, whatever they look like.
func (t *Terminal) oscClipboard(b []byte) {
	_, data, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(data) == 0 || base64.StdEncoding.DecodedLen(len(data)) > maxClipboard+2 {
		return
	}
	text, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil || len(text) == 0 || !utf8.Valid(text) {
		return
	}
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		for i, cell := range strings.Split(line, "\t") {
			if i > 0 {
				lines[len(lines)-1] += "\t" + clean([]byte(cell), maxClipboard)
				continue
			}
			lines = append(lines, clean([]byte(cell), maxClipboard))
		}
	}
	t.emit(Clipboard{Text: strings.Join(lines, "\n")})
}

// isPage reports whether a target is a page of the web: other targets are not kept, nobody may follow them.
func isPage(uri []byte) bool {
	scheme, _, ok := bytes.Cut(uri, []byte("://"))
	return ok && (bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https")))
}

func (t *Terminal) oscNotify(b []byte) {
	if string(b) == "4" {
		t.emit(Progress{})
		return
	}
	if rest, ok := bytes.CutPrefix(b, []byte("4;")); ok {
		state, percent, _ := strings.Cut(string(rest), ";")
		if s, err := strconv.Atoi(state); err == nil && s >= 0 && s <= 4 {
			n, _ := strconv.Atoi(percent)
			t.emit(Progress{State: s, Percent: clamp(n, 0, 100)})
		}
		return
	}
	// ConEmu gave numbers other meanings; they are not notifications.
	if i := bytes.IndexByte(b, ';'); i > 0 {
		if _, err := strconv.Atoi(string(b[:i])); err == nil {
			return
		}
	}
	if body := clean(b, maxTitle); body != "" {
		t.emit(Notification{Body: body})
	}
}

func (t *Terminal) oscStatus(b []byte) {
	if string(b) == "?" {
		t.replyf("\x1b]7501;?%s", t.terminator())
		return
	}
	var s Status
	for _, kv := range strings.Split(string(b[:min(len(b), 16384)]), ":") {
		k, v, _ := strings.Cut(kv, "=")
		switch k {
		case "state":
			s.State = clean([]byte(v), 32)
		case "kind":
			s.Kind = clean([]byte(v), 64)
		case "msg":
			raw, err := base64.StdEncoding.DecodeString(v)
			if err != nil {
				raw, err = base64.RawStdEncoding.DecodeString(v)
			}
			if err == nil {
				s.Message = clean(raw, 4096)
			}
		}
	}
	if s.State != "" {
		t.emit(s)
	}
}
