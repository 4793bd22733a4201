package vterm

import (
	"fmt"
	"testing"
)

// script makes a case of bytes and resizes: "\x00WxH" is a resize.
func script(name string, w, h int, steps ...string) vtCase {
	cat := name
	for i := range name {
		if name[i] == '/' {
			cat, name = name[:i], name[i+1:]
			break
		}
	}
	c := vtCase{Name: name, Cat: cat, W: w, H: h, SB: -2}
	for _, s := range steps {
		st := caseStep{In: s}
		if len(s) > 0 && s[0] == 0 {
			if _, err := fmt.Sscanf(s[1:], "%dx%d", &st.W, &st.H); err != nil {
				panic(err)
			}
		}
		c.Steps = append(c.Steps, st)
	}
	return c
}

func (c vtCase) rows(r ...string) vtCase  { c.Rows = append([]string{}, r...); return c }
func (c vtCase) cur(x, y int) vtCase      { c.Cur = []int{x, y}; return c }
func (c vtCase) answers(re string) vtCase { c.Reply = re; return c }
func (c vtCase) titled(s string) vtCase   { c.Title = s; return c }
func (c vtCase) history(n int) vtCase     { c.SB = n; return c }
func (c vtCase) styled(at, s string) vtCase {
	m := map[string]string{at: s}
	for k, v := range c.Style {
		m[k] = v
	}
	c.Style = m
	return c
}

// TestTable holds our own cases, in the groups of the shared ones.
func TestTable(t *testing.T) {
	runCases(t, []vtCase{
		script("basic/crlf", 10, 4, "ab\r\ncd").rows("ab", "cd").cur(2, 1),
		script("basic/backspace", 10, 2, "abc\b\bX").rows("aXc").cur(2, 0),
		script("basic/backspace at the left stays", 10, 2, "a\b\b\bb").rows("b").cur(1, 0),
		script("basic/vt and ff are line feeds", 10, 4, "a\vb\fc").rows("a", " b", "  c"),
		script("basic/nul and del are nothing", 10, 2, "a\x00b\x7fc").rows("abc"),

		script("wrap/at the edge waits", 5, 3, "abcde").rows("abcde").cur(4, 0),
		script("wrap/goes on", 5, 3, "abcdefg").rows("abcde", "fg").cur(2, 1),
		script("wrap/backspace drops the wait", 5, 3, "abcde\bX").rows("abcXe").cur(4, 0),
		script("wrap/tab keeps the wait", 5, 3, "abcde\tX").rows("abcde", "X"),
		script("wrap/move drops the wait", 5, 3, "abcde\x1b[5GX").rows("abcdX").cur(4, 0),
		script("wrap/scrolls at the end", 5, 2, "abcdefghijk").rows("fghij", "k").history(1),
		script("wrap/region", 5, 4, "\x1b[1;2rabcdefghijk").rows("fghij", "k").cur(1, 1),
		script("wrap/off and wide", 5, 2, "\x1b[?7labcd漢").rows("abcd").cur(4, 0),
		script("wrap/one column", 1, 3, "ab漢c").rows("a", "b", "c"),

		script("wrap/an erase that is none keeps the wait", 5, 3, "abcde\x1b[4JX").rows("abcde", "X"),

		script("cursor/vpr leaves the margins", 5, 5, "\x1b[1;2r\x1b[3eX").rows("", "", "", "X"),
		script("cursor/vpr stays in the margins of origin mode", 5, 5, "\x1b[1;2r\x1b[?6h\x1b[3eX").rows("", "X"),
		script("alt/1049 restores the cursor on the main screen too", 5, 3, "ab\x1b7cd\x1b[?1049lX").rows("abXd").cur(3, 0),

		script("unicode/mark after a move", 10, 2, "e\x1b[1Gx\x1b[2G\u0301").rows("x\u0301"),
		script("unicode/mark at the left edge is dropped", 10, 2, "\u0301a").rows("a"),
		script("unicode/mark at the right edge", 3, 2, "abe\u0301f").rows("abe\u0301", "f"),
		script("unicode/mark on wide", 10, 2, "漢\u0301x").rows("漢\u0301x").cur(3, 0),
		script("unicode/selector widens", 10, 2, "❤\ufe0fx").rows("❤\ufe0fx").cur(3, 0),
		script("unicode/selector widens over the edge", 3, 2, "ab❤\ufe0fx").rows("ab", "❤\ufe0fx").cur(2, 1),
		script("unicode/selector on a letter does not", 10, 2, "E\ufe0fx").cur(2, 0),
		script("unicode/text selector narrows", 10, 2, "⌚\ufe0ex").cur(2, 0),
		script("unicode/keycap", 10, 2, "1\ufe0f\u20e3x").rows("1\ufe0f\u20e3x").cur(3, 0),
		script("unicode/skin", 10, 2, "👍🏽x").rows("👍🏽x").cur(3, 0),
		script("unicode/two flags", 10, 2, "🇺🇸🇩🇪x").rows("🇺🇸🇩🇪x").cur(5, 0),
		script("unicode/flag halves apart", 10, 2, "🇺\x1b[1C🇸").rows("🇺 🇸"),
		script("unicode/rainbow", 10, 2, "🏳\ufe0f\u200d🌈x").rows("🏳\ufe0f\u200d🌈x").cur(3, 0),
		script("unicode/tag flag", 10, 2, "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007fx").cur(3, 0),
		script("unicode/hangul parts", 10, 2, "\u1112\u1161\u11abx").rows("\u1112\u1161\u11abx").cur(3, 0),
		script("unicode/legacy widths", 10, 2, "\x1b[?2027l👩\u200d👧x").cur(5, 0),
		script("unicode/broken bytes", 10, 2, "a\xffb\xe6\xbcc\xf0\x9f\x98d").rows("a\ufffdb\ufffdc\ufffdd"),
		script("unicode/surrogate and overlong", 10, 2, "\xed\xa0\x80\xc0\xafx").rows("\ufffd\ufffd\ufffd\ufffd\ufffdx"),
		script("unicode/c1 is nothing", 10, 2, "a\u009bb\u0085c").rows("abc"),
		script("unicode/direction marks are dropped", 20, 2, "a\u202eb\u2066c\u200bd\ufeffe").rows("abcde"),
		script("unicode/wide over a left half", 10, 2, "漢字\x1b[1Gx").rows("x 字"),
		script("unicode/wide cut by insert", 4, 2, "ab漢\x1b[1G\x1b[@").rows(" ab"),
		script("unicode/erase to the middle", 10, 2, "漢字\x1b[3G\x1b[1K").rows("").cur(2, 0),
		script("unicode/delete in the middle", 10, 2, "漢字ab\x1b[2G\x1b[P").rows(" 字ab"),
		script("unicode/overwrite by wide", 10, 2, "abcd\x1b[2G漢").rows("a漢d"),
		script("unicode/long cluster is capped", 10, 2, "a"+string(repeated('\u0301', 200))+"b").cur(2, 0),

		script("scroll/index at the end", 5, 2, "a\x1bD\x1bDb").rows("", " b").history(1),
		script("scroll/reverse at the top", 5, 3, "a\r\x1bMb").rows("b", "a").history(0),
		script("scroll/region outside", 5, 4, "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[4;1H\n\nx").rows("1", "2", "3", "x"),
		script("scroll/insert lines", 5, 4, "1\r\n2\r\n3\r\n4\x1b[2H\x1b[2L").rows("1", "", "", "2").cur(0, 1),
		script("scroll/insert outside of the region", 5, 4, "1\r\n2\r\n3\r\n4\x1b[1;2r\x1b[4;1H\x1b[L").
			rows("1", "2", "3", "4"),
		script("scroll/delete many", 5, 3, "1\r\n2\r\n3\x1b[H\x1b[99M").rows(""),
		script("scroll/su in a region", 5, 4, "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[S").rows("1", "3", "", "4"),
		script("scroll/sd many", 5, 3, "1\r\n2\r\n3\x1b[99T").rows(""),
		script("scroll/bad region is ignored", 5, 3, "1\r\n2\x1b[3;2r\x1b[3;1Hx\n").rows("2", "x").history(1),
		script("scroll/history is cleared", 5, 2, "1\r\n2\r\n3\x1b[3J").rows("2", "3").history(0),
		script("scroll/none in the alternate screen", 5, 2, "\x1b[?1049h1\r\n2\r\n3").rows("2", "3").history(0),

		script("edit/ich and dch to the edge", 5, 2, "abcde\x1b[2G\x1b[99@\x1b[1Gx").rows("x"),
		script("edit/ech", 8, 2, "abcdef\x1b[2G\x1b[3Xy").rows("ay  ef"),
		script("edit/ed1 over lines", 5, 3, "aaa\r\nbbb\r\nccc\x1b[3;1H\x1b[1J").rows("", "", " cc"),
		script("edit/rep of wide", 10, 2, "漢\x1b[2b").rows("漢漢漢"),
		script("edit/rep without anything", 10, 2, "\x1b[5bx").rows("x"),
		script("edit/insert mode", 8, 2, "abc\x1b[1G\x1b[4hxy\x1b[4lz").rows("xyzbc"),
		script("edit/protected stays", 10, 2, "\x1b[1\"qab\x1b[0\"qcd\x1b[?2K").rows("ab"),
		script("edit/protection does not stop el", 10, 2, "\x1b[1\"qab\x1b[2K").rows(""),

		script("style/bce", 5, 2, "\x1b[44m\x1b[K").styled("0,0", "bg=4").styled("4,0", "bg=4").styled("0,1", ""),
		script("style/bce on scroll", 5, 2, "\x1b[41m\n\n").styled("3,1", "bg=1").styled("3,0", ""),
		script("style/bce keeps no other attribute", 5, 2, "\x1b[1;4;41m\x1b[2J").styled("0,0", "bg=1"),
		script("style/curly", 5, 2, "\x1b[4:3ma\x1b[4:0mb\x1b[4:5mc").styled("0,0", "u3").styled("1,0", "").
			styled("2,0", "u5"),
		script("style/underline colour", 5, 2, "\x1b[4;58:2::1:2:3ma\x1b[59mb\x1b[58;5;9mc").styled("0,0", "u1 ul=#010203").
			styled("1,0", "u1").styled("2,0", "u1 ul=9"),
		script("style/truncated colour", 5, 2, "\x1b[38;5ma\x1b[38;2;1mb\x1b[1mc").styled("0,0", "").styled("2,0", "bold"),
		script("style/bad colour", 5, 2, "\x1b[38;5;300;1ma").styled("0,0", "bold"),
		script("style/6 is blink", 5, 2, "\x1b[6ma").styled("0,0", "blink"),
		script("style/empty parameters reset", 5, 2, "\x1b[1;31;ma").styled("0,0", ""),
		script("style/many parameters", 5, 2, "\x1b[1;2;3;4;5;7;8;9;53;31;42;38:5:1;48:5:2ma").
			styled("0,0", "bold dim ital u1 blink rev hid strike over fg=1 bg=2"),

		script("tabs/set and clear", 30, 2, "\x1b[3g\x1b[5G\x1bH\r\tx\r\x1b[5G\x1b[g\r\ty").
			rows("    x                        y"),
		script("tabs/back", 30, 2, "\x1b[20G\x1b[2Zx").rows("        x"),
		script("cursor/region stops up and down", 5, 6, "\x1b[2;4r\x1b[3H\x1b[9Aa\x1b[9Bb").rows("", "a", "", " b"),
		script("cursor/origin", 9, 6, "\x1b[2;4r\x1b[?6h\x1b[9;2Hx\x1b[?6l\x1b[Hy").rows("y", "", "", " x"),
		script("cursor/restore brings charset", 9, 2, "\x1b(0\x1b7\x1b(B\x1b8q").rows("─"),
		script("cursor/1048", 9, 2, "ab\x1b[?1048h\x1b[2Hx\x1b[?1048lc").rows("abc", "x"),
		script("charset/g1", 9, 2, "\x1b)0q\x0eq\x0fq").rows("q─q"),
		script("charset/single shift", 9, 2, "\x1b*0\x1bNqq").rows("─q"),
		script("charset/pound", 9, 2, "\x1b(A#\x1b(B#").rows("£#"),

		script("reset/ris clears history", 5, 2, "1\r\n2\r\n3\x1bc").rows("").history(0).cur(0, 0),
		script("reset/decstr keeps the screen", 5, 2, "ab\x1b[?25l\x1b[!p").rows("ab").cur(2, 0),
		script("alt/47 keeps both", 5, 2, "ab\x1b[?47hcd\x1b[?47l\x1b[?47h").rows("  cd"),
		script("alt/1047 clears on leaving", 5, 2, "ab\x1b[?1047hcd\x1b[?1047l\x1b[?1047h").rows(""),
		script("alt/1049 left twice brings the cursor back twice", 5, 2, "ab\x1b[?1049h\x1b[?1049lcd\x1b[?1049le").
			rows("abed"),

		script("osc/link ends with empty target", 9, 1, "\x1b]8;id=a;http://x.y\x07a\x1b]8;;\x07b").
			styled("0,0", "link=http://x.y").styled("1,0", ""),
		script("osc/sgr 0 keeps the link", 9, 1, "\x1b]8;;http://x.y\x07\x1b[0ma").styled("0,0", "link=http://x.y"),
		script("osc/swallowed", 9, 1, "\x1bPqsixel\x1b\\\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\"+
			"\x1b]1337;File=:AAAA\x07\x1bktitle\x1b\\x").rows("x"),
		script("osc/title without controls", 9, 1, "\x1b]2;a\u202eb\x07").titled("ab"),
		script("osc/title stack", 9, 1, "\x1b]2;one\x07\x1b[22;0t\x1b]2;two\x07\x1b[23;0t").titled("one"),
		script("osc/cancelled", 9, 1, "\x1b]2;one\x07\x1b]2;two\x18x").titled("one").rows("x"),

		script("parser/c0 inside csi", 9, 3, "ab\x1b[1\r;3\nHx").rows("abx", ""),
		script("parser/esc restarts", 9, 1, "\x1b[31\x1b[1mx").styled("0,0", "bold"),
		script("parser/dcs cut by esc", 9, 1, "\x1bP1$\x1b[1mx").rows("x").styled("0,0", "bold"),
		script("parser/long sequence ignored", 9, 1, "\x1b["+string(repeated('1', 900))+"mx").rows("x").styled("0,0", ""),
		script("parser/private marker in the middle", 9, 1, "\x1b[1?2hx").rows("x"),
		script("parser/too many parameters", 9, 1, "\x1b["+string(repeated(';', 300))+"1mx").rows("x"),

		script("reply/status", 9, 1, "\x1b[5n").answers(`^\x1b\[0n$`),
		script("reply/private position", 9, 3, "\x1b[2;3H\x1b[?6n").answers(`^\x1b\[\?2;3R$`),
		script("reply/tertiary", 9, 1, "\x1b[=c").answers(`^\x1bP!\|[0-9A-F]{8}\x1b\\$`),
		script("reply/colours", 9, 1, "\x1b]10;#102030\x07\x1b]10;?;?\x07").
			answers(`^\x1b\]10;rgb:1010/2020/3030\x07\x1b\]11;rgb:0000/0000/0000\x07$`),
		script("reply/two palette entries", 9, 1, "\x1b]4;1;rgb:ff/00/80;1;?;196;?\x1b\\").
			answers(`^\x1b\]4;1;rgb:ffff/0000/8080\x1b\\\x1b\]4;196;rgb:ffff/0000/0000\x1b\\$`),
		script("reply/sgr", 9, 1, "\x1b[1;4:3;38;5;200;48;2;1;2;3m\x1bP$qm\x1b\\").
			answers(`^\x1bP1\$r0;1;4:3;38;5;200;48;2;1;2;3m\x1b\\$`),
		script("reply/margins", 9, 5, "\x1b[2;4r\x1bP$qr\x1b\\").answers(`^\x1bP1\$r2;4r\x1b\\$`),
		script("reply/unknown setting", 9, 5, "\x1bP$qz\x1b\\").answers(`^\x1bP0\$r.*\x1b\\$`),
		script("reply/capability", 9, 1, "\x1bP+q436f;7a7a\x1b\\").answers(`^\x1bP1\+r436f=323536\x1b\\\x1bP0\+r7a7a\x1b\\$`),
		script("reply/unknown mode", 9, 1, "\x1b[?9999$p").answers(`^\x1b\[\?9999;0\$y$`),
		script("reply/ansi mode", 9, 1, "\x1b[4h\x1b[4$p").answers(`^\x1b\[4;1\$y$`),
		script("reply/kitty set bits", 9, 1, "\x1b[=1;1u\x1b[=4;2u\x1b[?u\x1b[=1;3u\x1b[?u").
			answers(`^\x1b\[\?5u\x1b\[\?4u$`),
		script("reply/modify other keys", 9, 1, "\x1b[>4;2m\x1b[?4m").answers(`^\x1b\[>4;2m$`),
		script("reply/agent status", 9, 1, "\x1b]7501;?\x1b\\").answers(`^\x1b\]7501;\?\x1b\\$`),
		script("reply/size in cells", 9, 3, "\x1b[18t").answers(`^\x1b\[8;3;9t$`),
		script("reply/title is never told", 9, 1, "\x1b]2;rm -rf\x07\x1b[21t\x1b[5n").answers(`^\x1b\[0n$`),
		script("reply/clipboard is never told", 9, 1, "\x1b]52;c;?\x07\x1b[5n").answers(`^\x1b\[0n$`),

		script("resize/narrow and wide again", 10, 4, "abcdefgh\r\nx", "\x004x4", "\x0010x4").rows("abcdefgh", "x").cur(1, 1),
		script("resize/rows come back", 10, 4, "1\r\n2\r\n3\r\n4", "\x0010x2", "\x0010x4").rows("1", "2", "3", "4").cur(1, 3).
			history(0),
		script("resize/cleared screen takes nothing back", 10, 3, "1\r\n2\r\n3\r\n4\r\n5\x1b[H\x1b[2Jx", "\x0010x5").
			rows("x").cur(1, 0).history(2),
		script("resize/blank rows below are dropped", 10, 5, "1\r\n2", "\x0010x2").rows("1", "2").history(0).cur(1, 1),
		script("resize/wide at the new edge", 10, 4, "a漢字b", "\x004x4").rows("a漢", "字b"),
		script("resize/history is wrapped", 4, 2, "abcd1234\r\nx\r\ny", "\x008x2").rows("x", "y").history(1),
		script("resize/cursor in the middle", 10, 4, "abcdefgh\x1b[4G", "\x003x4").rows("abc", "def", "gh").cur(0, 1),
		script("resize/alternate keeps the cursor", 10, 4, "\x1b[?1049h\x1b[4;1Hx", "\x0010x2").rows("", "x").cur(1, 1),
		script("resize/main behind the alternate", 10, 3, "abcdefgh\x1b[?1049hzz", "\x004x3", "\x1b[?1049l!").
			rows("abcd", "efgh", "!"),
	})
}

func repeated(r rune, n int) []rune {
	out := make([]rune, n)
	for i := range out {
		out[i] = r
	}
	return out
}
