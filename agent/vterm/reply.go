package vterm

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// primaryAttributes says: VT220 with colour.
const primaryAttributes = "\x1b[?62;22c"

func (t *Terminal) reply(s string) {
	if t.opts.Reply != nil && t.limit.take(t.opts.Now()) {
		t.opts.Reply([]byte(s))
	}
}

func (t *Terminal) replyf(format string, args ...any) {
	if t.opts.Reply != nil && t.limit.take(t.opts.Now()) {
		t.opts.Reply(fmt.Appendf(nil, format, args...))
	}
}

// statusReport is DSR.
func (t *Terminal) statusReport(n int) {
	switch n {
	case 5:
		t.reply("\x1b[0n")
	case 6:
		t.replyf("\x1b[%d;%dR", t.reportedLine(), t.x+1)
	}
}

func (t *Terminal) reportedLine() int {
	if t.modes.Origin {
		return t.y - t.top + 1
	}
	return t.y + 1
}

func (t *Terminal) privateStatusReport(n int) {
	switch n {
	case 6:
		t.replyf("\x1b[?%d;%dR", t.reportedLine(), t.x+1)
	case 15:
		t.reply("\x1b[?13n")
	case 25:
		t.reply("\x1b[?20n")
	case 26:
		t.reply("\x1b[?27;1;0;0n")
	case 996:
		t.replyf("\x1b[?997;%dn", t.scheme())
	}
}

// scheme is 1 for a dark background, 2 for a light one.
func (t *Terminal) scheme() int {
	r, g, b := t.resolve(t.bg, t.opts.Background)
	if int(r)*299+int(g)*587+int(b)*114 > 127000 {
		return 2
	}
	return 1
}

// windowOp is XTWINOPS: the size in cells, and the stack of titles. Nothing else is told or done; the
// title is never reported, because a program could have it typed into a shell.
func (t *Terminal) windowOp(p *params) {
	switch p.raw(0) {
	case 18:
		t.replyf("\x1b[8;%d;%dt", t.rows, t.cols)
	case 22:
		if len(t.titleStack) < 10 {
			t.titleStack = append(t.titleStack, t.title)
		}
	case 23:
		if n := len(t.titleStack); n > 0 {
			t.setTitle(t.titleStack[n-1])
			t.titleStack = t.titleStack[:n-1]
		}
	}
}

// dispatchDCS executes a device control string: DECRQSS and XTGETTCAP.
func (t *Terminal) dispatchDCS(head, str []byte) {
	switch string(head) {
	case "$q":
		t.reportSetting(string(str))
	case "+q":
		if len(str) <= 4096 {
			for _, name := range strings.Split(string(str), ";") {
				t.reportCapability(name)
			}
		}
	}
}

func (t *Terminal) reportSetting(what string) {
	switch what {
	case "m":
		t.replyf("\x1bP1$r%sm\x1b\\", t.pen.appendParams(nil))
	case "r":
		t.replyf("\x1bP1$r%d;%dr\x1b\\", t.top+1, t.bottom+1)
	case " q":
		t.replyf("\x1bP1$r%d q\x1b\\", max(t.cursorStyle, 1))
	case "\"p":
		t.reply("\x1bP1$r62;1\"p\x1b\\")
	case "\"q":
		n := 0
		if t.pen.Attr&Protected != 0 {
			n = 1
		}
		t.replyf("\x1bP1$r%d\"q\x1b\\", n)
	default:
		t.reply("\x1bP0$r\x1b\\")
	}
}

// capability returns a terminfo entry that programs ask a terminal for.
func capability(name string) (string, bool) {
	switch name {
	case "TN", "name":
		return "xterm-256color", true
	case "Co", "colors":
		return "256", true
	case "RGB":
		return "8/8/8", true
	case "Su", "Tc", "XT", "AX":
		return "", true
	case "Smulx":
		return `\E[4:%p1%dm`, true
	case "Setulc":
		return `\E[58:2:%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m`, true
	case "Ss":
		return `\E[%p1%d q`, true
	case "Se":
		return `\E[2 q`, true
	}
	return "", false
}

func (t *Terminal) reportCapability(hexName string) {
	name, err := hex.DecodeString(hexName)
	value, ok := capability(string(name))
	switch {
	case err != nil || !ok:
		if err != nil {
			hexName = ""
		}
		t.replyf("\x1bP0+r%s\x1b\\", hexName)
	case value == "":
		t.replyf("\x1bP1+r%s\x1b\\", hexName)
	default:
		t.replyf("\x1bP1+r%s=%X\x1b\\", hexName, value)
	}
}

// terminator is how the program ended its string; answers end alike.
func (t *Terminal) terminator() string {
	if t.parser.bel {
		return "\a"
	}
	return "\x1b\\"
}
