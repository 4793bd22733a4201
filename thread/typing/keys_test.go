package typing_test

import (
	"strings"
	"testing"

	"orchestrator/thread/typing"
)

func TestKeys(t *testing.T) {
	const up, left, right, esc = "\x1b[A", "\x1b[D", "\x1b[C", "\x1b"
	for _, c := range []struct {
		name string
		in   []string // reads
		want typing.Hold
	}{
		{"nothing", nil, typing.Nothing},
		{"letters", []string{"ab"}, typing.Text},
		{"sent", []string{"ab\r"}, typing.Nothing},
		{"sent by the keypad", []string{"ab\x1bOM"}, typing.Nothing},
		{"sent in kitty's encoding", []string{"ab\x1b[13u"}, typing.Nothing},
		{"two more after it was sent", []string{"ab\rcd"}, typing.Text},
		{"deleted", []string{"aä\x7f\x08"}, typing.Nothing},
		{"deleted, one left", []string{"abc\x7f\x7f"}, typing.Text},
		{"deleted by kitty's backspace", []string{"a\x1b[127u"}, typing.Nothing},
		{"deleted from the middle", []string{"ab" + left + "\x7f\x7f"}, typing.Text},
		{"ctrl+u", []string{"some words\x15"}, typing.Nothing},
		{"ctrl+u in an empty input", []string{"\x15"}, typing.Nothing},
		{"ctrl+u after a prompt was sent", []string{"ab\r\x15"}, typing.Nothing},
		{"ctrl+u behind history", []string{up + "\x15"}, typing.Perhaps},
		{"ctrl+u in kitty's encoding", []string{"some words\x1b[117;5u"}, typing.Nothing},
		{"ctrl+u behind two lines", []string{"some\nwords\x15"}, typing.Perhaps},
		{"ctrl+u from the middle", []string{"words" + left + "\x15"}, typing.Perhaps},
		{"ctrl+w", []string{"words\x17"}, typing.Perhaps},
		{"ctrl+c", []string{"words" + left + "\x03"}, typing.Nothing},
		{"ctrl+c behind history", []string{up + "\x03"}, typing.Nothing},
		{"history", []string{up}, typing.Perhaps},
		{"history by ctrl+r", []string{"\x12"}, typing.Perhaps},
		{"history, deleted", []string{up + "\x7f\x7f"}, typing.Perhaps},
		{"history, sent", []string{up + "\r"}, typing.Nothing},
		{"history in application mode", []string{"\x1bOA"}, typing.Perhaps},
		{"esc", []string{esc}, typing.Perhaps},
		{"esc twice", []string{esc + esc}, typing.Perhaps},
		{"a suggestion by tab", []string{"\t"}, typing.Perhaps},
		{"a suggestion by right", []string{right}, typing.Perhaps},
		{"left alone", []string{left}, typing.Nothing},
		{"shift+tab", []string{"\x1b[Z"}, typing.Nothing},
		{"alt and a letter", []string{"\x1by"}, typing.Perhaps},
		{"a line break", []string{"a\x1b\r"}, typing.Text},
		{"shift+return in kitty's encoding", []string{"a\x1b[13;2u"}, typing.Text},
		{"shift+return in modifyOtherKeys", []string{"a\x1b[27;2;13~"}, typing.Text},
		{"a backslash before the return", []string{"a\\\r"}, typing.Text},
		{"a backslash, deleted to", []string{"a\\x\x7f\r"}, typing.Text},
		{"a backslash that was sent", []string{"a\\\rb\r"}, typing.Nothing},
		{"pasted", []string{"\x1b[200~one\rtwo\x1b[201~"}, typing.Text},
		{"pasted and sent", []string{"\x1b[200~one\rtwo\x1b[201~\r"}, typing.Nothing},
		{"pasted nothing", []string{"\x1b[200~\x1b[201~"}, typing.Nothing},
		{"a paste in pieces", []string{"\x1b[20", "0~a\r", "b\x1b[2", "01~", "\r"}, typing.Nothing},
		{"a paste that goes on", []string{"\x1b[200~a\r", "\r"}, typing.Text},
		{"what looks like keys in a paste", []string{"\x1b[200~a\x03\x15\r\x1b[201~"}, typing.Text},
		{"a letter in pieces", []string{"\xc3", "\xa4"}, typing.Text},
		{"a kitty letter", []string{"\x1b[97u"}, typing.Text},
		{"a kitty letter that is released", []string{"\x1b[97;1:3u"}, typing.Nothing},
		{"a kitty letter with locks", []string{"\x1b[97;65u"}, typing.Text},
		{"shift alone", []string{"\x1b[57441;2u"}, typing.Nothing},
		{"the mouse", []string{"\x1b[<35;10;5M\x1b[<0;10;5m\x1b[M !!"}, typing.Nothing},
		{"the old mouse in pieces", []string{"\x1b[M !", "!"}, typing.Nothing},
		{"the focus", []string{"\x1b[I\x1b[O"}, typing.Nothing},
		{"a terminal's answers", []string{"\x1b]10;rgb:0/0/0\x1b\\\x1b[?62;22c\x1b[12;5R\x1bP>|x\x1b\\"}, typing.Nothing},
		{"an answer in pieces", []string{"\x1b]10;rgb", ":0/0/0\x07"}, typing.Nothing},
		{"pages", []string{"\x1b[5~\x1b[6~"}, typing.Nothing},
		{"very much", []string{strings.Repeat("x", 10_000) + strings.Repeat("\x7f", 9_999)}, typing.Text},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k typing.Keys
			for _, b := range c.in {
				k.Typed([]byte(b))
			}
			if k.Hold() != c.want {
				t.Errorf("%v, want %v", k.Hold(), c.want)
			}
		})
	}
}

func TestEffect(t *testing.T) {
	for in, want := range map[string]typing.Effect{
		"":                         {},
		"a":                        {Key: true},
		"a\r":                      {Key: true, Sent: true},
		"\r":                       {Key: true},
		"\x1b[A\r":                 {Key: true, Sent: true},
		"\x03":                     {Key: true, Cancel: true},
		"\x1b[99;5u":               {Key: true, Cancel: true},
		"\x1b[I\x1b[<35;1;1M":      {},
		"\x1b[200~a\rb\x1b[201~":   {Key: true},
		"\x1b[200~a\x1b[201~\r":    {Key: true, Sent: true},
		"\x1b]11;rgb:0/0/0\x07":    {},
		"\x1b[200~a\x03\x1b[201~x": {Key: true},
	} {
		var k typing.Keys
		if got := k.Typed([]byte(in)); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

// FuzzKeys: whatever comes, in whatever pieces, nothing panics, and a return outside of a paste empties the input.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[200~x\x1b[201~\x1b[A\x1b]0;x\x07\xff\r"), 3)
	f.Add([]byte("\x1b[27;5;99~\x1b[97:65;2:1;65u\\\r"), 9)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var k typing.Keys
		cut = min(max(cut, 0), len(b))
		k.Typed(b[:cut])
		k.Typed(b[cut:])
		k.Typed([]byte("\x1b[201~\x1b\\x\r")) // ends a paste and an answer
		if k.Hold() != typing.Nothing {
			t.Errorf("%q holds %v", b, k.Hold())
		}
	})
}
