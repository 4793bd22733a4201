package input

import (
	"strings"
	"testing"

	"orchestrator/agent/vterm"
)

func TestKeys(t *testing.T) {
	plain := vterm.Modes{}
	app := vterm.Modes{AppCursor: true, AppKeypad: true}
	kitty1 := vterm.Modes{Kitty: 1, AppCursor: true}
	kitty3 := vterm.Modes{Kitty: 3}
	kitty31 := vterm.Modes{Kitty: 31}
	mok1, mok2 := vterm.Modes{ModifyOther: 1}, vterm.Modes{ModifyOther: 2}
	a := Key{Code: 'a', Text: "a"}
	with := func(k Key, m Mod) Key { k.Mod = m; k.Text = ""; return k }
	released := func(k Key) Key { k.Action = Release; return k }
	shiftA := Key{Code: 'a', Shifted: 'A', Text: "A", Mod: Shift}
	for _, c := range []struct {
		name  string
		key   Key
		modes vterm.Modes
		want  string
	}{
		{"text", a, plain, "a"},
		{"unicode text", Key{Code: 'é', Text: "é"}, plain, "é"},
		{"composed text", Key{Code: 'e', Text: "漢字"}, plain, "漢字"},
		{"shift", shiftA, plain, "A"},
		{"no release", released(a), plain, ""},
		{"ctrl+c", with(Key{Code: 'c'}, Ctrl), plain, "\x03"},
		{"ctrl+space", with(Key{Code: ' '}, Ctrl), plain, "\x00"},
		{"ctrl+]", with(Key{Code: ']'}, Ctrl), plain, "\x1d"},
		{"ctrl+/", with(Key{Code: '/'}, Ctrl), plain, "\x1f"},
		{"ctrl+3", with(Key{Code: '3'}, Ctrl), plain, "\x1b"},
		{"alt+b", with(Key{Code: 'b'}, Alt), plain, "\x1bb"},
		{"alt+ctrl+b", with(Key{Code: 'b'}, Alt|Ctrl), plain, "\x1b\x02"},
		{"enter", Key{Code: KeyEnter}, plain, "\r"},
		{"enter with new line mode", Key{Code: KeyEnter}, vterm.Modes{NewLine: true}, "\r\n"},
		{"shift+enter", with(Key{Code: KeyEnter}, Shift), plain, "\r"},
		{"alt+enter", with(Key{Code: KeyEnter}, Alt), plain, "\x1b\r"},
		{"shift+tab", with(Key{Code: KeyTab}, Shift), plain, "\x1b[Z"},
		{"backspace", Key{Code: KeyBackspace}, plain, "\x7f"},
		{"ctrl+backspace", with(Key{Code: KeyBackspace}, Ctrl), plain, "\b"},
		{"escape", Key{Code: KeyEscape}, plain, "\x1b"},
		{"up", Key{Code: KeyUp}, plain, "\x1b[A"},
		{"up in application mode", Key{Code: KeyUp}, app, "\x1bOA"},
		{"ctrl+left", with(Key{Code: KeyLeft}, Ctrl), app, "\x1b[1;5D"},
		{"home", Key{Code: KeyHome}, plain, "\x1b[H"},
		{"delete", Key{Code: KeyDelete}, plain, "\x1b[3~"},
		{"shift+page up", with(Key{Code: KeyPageUp}, Shift), plain, "\x1b[5;2~"},
		{"f1", Key{Code: KeyFn(1)}, plain, "\x1bOP"},
		{"shift+f3", with(Key{Code: KeyFn(3)}, Shift), plain, "\x1b[1;2R"},
		{"f5", Key{Code: KeyFn(5)}, plain, "\x1b[15~"},
		{"f12", Key{Code: KeyFn(12)}, plain, "\x1b[24~"},
		{"f20", Key{Code: KeyFn(20)}, plain, "\x1b[34~"},
		{"keypad 5", Key{Code: KeyKp0 + 5}, plain, "5"},
		{"keypad 5 in application mode", Key{Code: KeyKp0 + 5}, app, "\x1bOu"},
		{"keypad enter", Key{Code: KeyKpEnter}, plain, "\r"},
		{"keypad up", Key{Code: KeyKpLeft + 2}, plain, "\x1b[A"},
		{"caps lock", Key{Code: KeyCapsLock}, plain, ""},

		{"kitty text", a, kitty1, "a"},
		{"kitty shift", shiftA, kitty1, "A"},
		{"kitty ctrl+c", with(Key{Code: 'c'}, Ctrl), kitty1, "\x1b[99;5u"},
		{"kitty escape", Key{Code: KeyEscape}, kitty1, "\x1b[27u"},
		{"kitty enter", Key{Code: KeyEnter}, kitty1, "\r"},
		{"kitty shift+enter", with(Key{Code: KeyEnter}, Shift), kitty1, "\x1b[13;2u"},
		{"kitty shift+tab", with(Key{Code: KeyTab}, Shift), kitty1, "\x1b[9;2u"},
		{"kitty alt+b", with(Key{Code: 'b'}, Alt), kitty1, "\x1b[98;3u"},
		{"kitty up", Key{Code: KeyUp}, kitty1, "\x1b[A"},
		{"kitty f3", Key{Code: KeyFn(3)}, kitty1, "\x1b[13~"},
		{"kitty f13", Key{Code: KeyFn(13)}, kitty1, "\x1b[57376u"},
		{"kitty release", released(a), kitty3, "\x1b[97;1:3u"},
		{"kitty repeat", Key{Code: KeyUp, Action: Repeat}, kitty3, "\x1b[1;1:2A"},
		{"kitty release of enter", released(Key{Code: KeyEnter}), kitty3, ""},
		{"kitty all", shiftA, kitty31, "\x1b[97:65;2;65u"},
		{"kitty all plain", a, kitty31, "\x1b[97;;97u"},
		{"kitty all enter", Key{Code: KeyEnter}, kitty31, "\x1b[13u"},
		{"kitty base", with(Key{Code: 'я', Base: 'z'}, Ctrl), kitty31, "\x1b[1103::122;5u"},

		{"modify shift+enter", with(Key{Code: KeyEnter}, Shift), mok1, "\x1b[27;2;13~"},
		{"modify ctrl+c level 1", with(Key{Code: 'c'}, Ctrl), mok1, "\x03"},
		{"modify ctrl+c level 2", with(Key{Code: 'c'}, Ctrl), mok2, "\x1b[27;5;99~"},
		{"modify ctrl+1 level 1", with(Key{Code: '1'}, Ctrl), mok1, "\x1b[27;5;49~"},
		{"modify shift text", shiftA, mok2, "A"},
		{"modify ctrl+shift+a", with(Key{Code: 'a', Shifted: 'A'}, Ctrl|Shift), mok2, "\x1b[27;6;65~"},
		{"modify arrows stay", with(Key{Code: KeyUp}, Ctrl), mok2, "\x1b[1;5A"},
	} {
		if got := string(AppendKey(nil, c.key, c.modes)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMouse(t *testing.T) {
	sgr := func(m vterm.MouseMode) vterm.Modes {
		return vterm.Modes{Mouse: m, MouseEncoding: vterm.MouseSGR}
	}
	for _, c := range []struct {
		name  string
		e     Mouse
		modes vterm.Modes
		want  string
	}{
		{"off", Mouse{}, vterm.Modes{}, ""},
		{"x10", Mouse{X: 1, Y: 2, Mod: Ctrl}, vterm.Modes{Mouse: vterm.MouseX10}, "\x1b[M \"#"},
		{"x10 release", Mouse{Action: Release}, vterm.Modes{Mouse: vterm.MouseX10}, ""},
		{"bytes release", Mouse{Action: Release}, vterm.Modes{Mouse: vterm.MouseNormal}, "\x1b[M#!!"},
		{"bytes too far", Mouse{X: 300}, vterm.Modes{Mouse: vterm.MouseNormal}, ""},
		{"utf8", Mouse{X: 299}, vterm.Modes{Mouse: vterm.MouseNormal, MouseEncoding: vterm.MouseUTF8}, "\x1b[M \u014c!"},
		{"urxvt", Mouse{X: 299, Y: 1}, vterm.Modes{Mouse: vterm.MouseNormal, MouseEncoding: vterm.MouseURXVT},
			"\x1b[32;300;2M"},
		{"sgr press", Mouse{X: 9, Y: 4, Button: ButtonRight, Mod: Shift | Alt}, sgr(vterm.MouseNormal), "\x1b[<14;10;5M"},
		{"sgr release", Mouse{X: 9, Y: 4, Action: Release}, sgr(vterm.MouseNormal), "\x1b[<0;10;5m"},
		{"wheel", Mouse{Button: ButtonWheelDown}, sgr(vterm.MouseNormal), "\x1b[<65;1;1M"},
		{"motion not wanted", Mouse{Action: Motion}, sgr(vterm.MouseNormal), ""},
		{"drag", Mouse{Action: Motion}, sgr(vterm.MouseButton), "\x1b[<32;1;1M"},
		{"hover not wanted", Mouse{Button: ButtonNone, Action: Motion}, sgr(vterm.MouseButton), ""},
		{"hover", Mouse{Button: ButtonNone, Action: Motion}, sgr(vterm.MouseAny), "\x1b[<35;1;1M"},
		{"outside", Mouse{X: -1}, sgr(vterm.MouseAny), ""},
	} {
		if got := string(AppendMouse(nil, c.e, c.modes)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPaste(t *testing.T) {
	bracket := vterm.Modes{BracketedPaste: true}
	for _, c := range []struct {
		text  string
		modes vterm.Modes
		want  string
	}{
		{"a\nb\r\nc\td", bracket, "\x1b[200~a\rb\rc\td\x1b[201~"},
		{"x\x1b[201~rm -rf /\n", bracket, "\x1b[200~x[201~rm -rf /\r\x1b[201~"},
		{"x\x1b\x1b[201~[201~y", bracket, "\x1b[200~x[201~[201~y\x1b[201~"},
		{"x\u009b201~\x03\x04y", bracket, "\x1b[200~x201~y\x1b[201~"},
		{"plain\x1b[A", vterm.Modes{}, "plain[A"},
		{"bad\xffbyte", vterm.Modes{}, "bad\ufffdbyte"},
	} {
		if got := string(AppendPaste(nil, c.text, c.modes)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzPaste: whatever is pasted, the bracket ends once and at the end, and no control gets through.
func FuzzPaste(f *testing.F) {
	for _, s := range []string{"", "\x1b[201~", "\x1b\x1b[201~[201~", "a\x9b201~", "\xc2\x9b201~", "\x1b[20\x001~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(AppendPaste(nil, s, vterm.Modes{BracketedPaste: true}))
		inner, ok := strings.CutPrefix(got, "\x1b[200~")
		inner, ok2 := strings.CutSuffix(inner, "\x1b[201~")
		if !ok || !ok2 {
			t.Fatalf("no bracket: %q", got)
		}
		for _, r := range inner {
			if r < 0x20 && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q lets %U through", s, r)
			}
		}
	})
}

func TestFocus(t *testing.T) {
	if got := string(AppendFocus(nil, true, vterm.Modes{Focus: true})); got != "\x1b[I" {
		t.Errorf("got %q", got)
	}
	if got := AppendFocus(nil, false, vterm.Modes{}); got != nil {
		t.Errorf("got %q unasked", got)
	}
}
