package vterm

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rounds is how many random sessions a test plays; VTERM_ROUNDS sets it for long runs.
func rounds(t testing.TB, def int) int {
	if s := os.Getenv("VTERM_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return max(1, def/4)
	}
	return def
}

var randomTexts = []string{
	"hello world ", "x", "0123456789", "漢字", "木", "e\u0301", "a\u0300\u0301", "😀", "👨\u200d👩\u200d👧", "\u200d", "❤\ufe0f",
	"❤", "\ufe0f", "\ufe0e", "⌚", "🇺🇸", "🇺", "🏻", "1\ufe0f\u20e3", "क्षि", "각", "한", "\u1112\u1161\u11ab", "\u202e",
	"\u200b",
	"\u0600", "é", "─│┌┐", "\u00ad", "\ufffd", "\u0e33", "\u0e01", "\u0903", "\x85", "\xff", "\xe6\xbc", "\xf0\x9f",
}

var randomFinals = "@ABCDEFGHIJKLMPSTXZ`abcdefghmnrstux"

var randomModes = []int{1, 3, 5, 6, 7, 9, 12, 25, 45, 47, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1047,
	1048, 1049, 2004, 2026, 2027, 2031}

var randomSequences = []string{
	"\r", "\n", "\r\n", "\b", "\t", "\x07", "\x0e", "\x0f", "\x18", "\x1a", "\x00", "\x7f", "\v", "\x1b", "\x1b7",
	"\x1b8", "\x1bD", "\x1bE",
	"\x1bM", "\x1bH", "\x1bc", "\x1b=", "\x1b>", "\x1bN", "\x1bO", "\x1bn", "\x1bo", "\x1b(0", "\x1b(B", "\x1b)0",
	"\x1b*0", "\x1b#8", "\x1bZ",
	"\x1b]0;title\x07", "\x1b]2;é✳\x1b\\", "\x1b]8;;http://a.b/\x1b\\", "\x1b]8;id=1;http://c.d/\x07", "\x1b]8;;\x07",
	"\x1b]4;1;?\x07", "\x1b]4;1;rgb:1/2/3\x07", "\x1b]104\x07", "\x1b]10;#fff\x07", "\x1b]11;?\x1b\\",
	"\x1b]52;c;aGk=\x07",
	"\x1b]7501;state=working:msg=aGk=\x07", "\x1b]9;4;1;50\x07", "\x1b]9;hi\x07", "\x1b]777;notify;a;b\x07",
	"\x1b]133;A\x07",
	"\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\", "\x1bPq#0;2;0\x1b\\", "\x1b_Gf=1;AAAA\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\",
	"\x1bkname\x1b\\",
	"\x1b[!p", "\x1b[>1u", "\x1b[<u", "\x1b[=5;1u", "\x1b[?u", "\x1b[>4;2m", "\x1b[>c", "\x1b[=c", "\x1b[>q", "\x1b[3 q",
	"\x1b[1\"q", "\x1b[0\"q",
	"\x1b[?2K", "\x1b[?1J", "\x1b[22;0t", "\x1b[23;0t", "\x1b[18t", "\x1b[?1000;1006$p", "\x1b[4$p", "\x1b[=7501;1w",
	"\x1b[=7501;2w",
	"\x1b[=7501;3;2;3w", "\x1b[=7501;4;9;9w", "\x1b[=7501;5;2;65;769w", "\x1b[38;2;9;8;7m", "\x1b[48:5:20m",
	"\x1b[4:3;58:2::1:2:3m", "\x1b[m",
	"\x1b[?s", "\x1b[?1;7;1000s", "\x1b[?1;7;1000r", "\x1b[20h", "\x1b[20l", "\x1b[4h", "\x1b[4l", "\x1b[99999999999C",
	"\x1b[;;;;m",
}

// randomChunk makes a piece of a session: text, sequences, broken bytes.
func randomChunk(rng *rand.Rand) []byte {
	var b []byte
	for range 1 + rng.IntN(12) {
		switch rng.IntN(10) {
		case 0, 1, 2:
			b = append(b, randomTexts[rng.IntN(len(randomTexts))]...)
		case 3:
			b = append(b, strings.Repeat(randomTexts[rng.IntN(len(randomTexts))], rng.IntN(40))...)
		case 4, 5:
			b = append(b, randomSequences[rng.IntN(len(randomSequences))]...)
		case 6, 7:
			b = append(b, "\x1b["...)
			for i := range rng.IntN(4) {
				if i > 0 {
					b = append(b, ';')
				}
				b = strconv.AppendInt(b, int64(rng.IntN(30)), 10)
			}
			b = append(b, randomFinals[rng.IntN(len(randomFinals))])
		case 8:
			b = fmt.Appendf(b, "\x1b[?%d%c", randomModes[rng.IntN(len(randomModes))], "hl"[rng.IntN(2)])
		case 9:
			b = fmt.Appendf(b, "\x1b[%dm\r\n", rng.IntN(110))
		}
	}
	if rng.IntN(20) == 0 {
		for range rng.IntN(30) {
			b = append(b, byte(rng.UintN(256)))
		}
	}
	return b
}

// dump writes everything that can be told from outside, and what the next bytes depend on.
func dump(t *Terminal) string {
	var b strings.Builder
	line := func(cells []cell) {
		last := "?"
		for _, c := range cells {
			if s := canonical(t, t.styles.vals[c.style()]); s != last {
				fmt.Fprintf(&b, "{%s}", s)
				last = s
			}
			if t.styles.vals[c.style()].Attr&Protected != 0 {
				b.WriteByte('!')
			}
			fmt.Fprintf(&b, "%d%q", c.width(), t.text(c.ch))
		}
	}
	trim := func(cells []cell) []cell {
		for len(cells) > 0 && cells[len(cells)-1] == blankCell(0) {
			cells = cells[:len(cells)-1]
		}
		return cells
	}
	for i := range t.history.count {
		cells, wrapped := t.unpack(nil, t.history.line(i))
		line(trim(cells))
		fmt.Fprintf(&b, " %v\n", wrapped)
	}
	for _, s := range []*screen{&t.main, &t.alt} {
		saved := s.saved
		saved.pen = Style{}
		fmt.Fprintf(&b, "-- %v saved %+v %s kitty %v\n", s == t.scr, saved, canonical(t, s.saved.pen), s.kitty.flags)
		for _, r := range s.rows {
			line(trim(r.cells[:r.used]))
			fmt.Fprintf(&b, " %v\n", r.wrapped)
		}
	}
	fmt.Fprintf(&b, "cursor %+v pending %v pen %q region %d-%d tabs %v charsets %+v\n", t.Cursor(), t.wrapPending,
		canonical(t, t.pen), t.top, t.bottom, t.tabs, t.charsets)
	fmt.Fprintf(&b, "modes %+v flags %+v title %q %q %q palette %v %v %v %v modify %d\n", t.Modes(), t.flags, t.title,
		t.icon,
		t.titleStack, t.palette, t.fg, t.bg, t.cur, t.modifyKeys)
	return b.String()
}

// TestRandomSessions plays random sessions with resizes: nothing may panic or break an invariant, a
// snapshot must make an equal terminal, and the same bytes must then do the same to both.
func TestRandomSessions(t *testing.T) {
	for seed := range rounds(t, 150) {
		playRandom(t, uint64(seed))
		if t.Failed() {
			return
		}
	}
}

func playRandom(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(7, seed))
	opts := Options{Scrollback: 1 + rng.IntN(60), Now: fixedClock, Reply: func([]byte) {}, Event: func(Event) {}}
	term := New(1+rng.IntN(30), 1+rng.IntN(12), opts)
	for range 5 + rng.IntN(40) {
		if rng.IntN(8) == 0 {
			term.Resize(1+rng.IntN(40), 1+rng.IntN(14))
			checkInvariants(t, term)
		}
		b := randomChunk(rng)
		_, _ = term.Write(b)
		checkInvariants(t, term)
	}
	cols, rows := term.Size()
	twin := New(cols, rows, opts)
	_, _ = twin.Write(term.Snapshot(-1))
	checkInvariants(t, twin)
	for i := range 6 {
		if a, b := dump(term), dump(twin); a != b {
			t.Fatalf("seed %d: differs %d writes after the snapshot\n%s", seed, i, firstDifference(a, b))
		}
		b := randomChunk(rng)
		if strings.Contains(string(b), "r") { // XTRESTORE of modes saved before the snapshot is not kept
			b = []byte(strings.ReplaceAll(string(b), "r", "q"))
		}
		_, _ = term.Write(b)
		_, _ = twin.Write(b)
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d\n%s\n%s", i, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}

// TestCutAnywhere writes random sessions whole and in pieces: the screens must be equal.
func TestCutAnywhere(t *testing.T) {
	for seed := range rounds(t, 60) {
		rng := rand.New(rand.NewPCG(8, uint64(seed)))
		var b []byte
		for range 30 {
			b = append(b, randomChunk(rng)...)
		}
		opts := Options{Now: fixedClock}
		one, two := New(20, 6, opts), New(20, 6, opts)
		_, _ = one.Write(b)
		randomCuts(rng)(two, b)
		if x, y := dump(one), dump(two); x != y {
			t.Fatalf("seed %d: %s", seed, firstDifference(x, y))
		}
	}
}

// FuzzWrite looks for bytes that panic, hang or break an invariant. The seeds run in every test.
func FuzzWrite(f *testing.F) {
	for _, s := range randomSequences {
		f.Add([]byte("ab漢😀"+s+"x\r\n"), uint16(0))
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 40 {
		f.Add(append(randomChunk(rng), randomChunk(rng)...), uint16(rng.UintN(1<<16)))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		term := New(1+int(n%17), 1+int(n/17%9), Options{Scrollback: 20, Now: fixedClock, Reply: func([]byte) {}})
		cut := 0
		if len(b) > 0 {
			cut = int(n) % len(b)
		}
		_, _ = term.Write(b[:cut])
		checkInvariants(t, term)
		term.Resize(1+int(n%23), 1+int(n/23%7))
		checkInvariants(t, term)
		_, _ = term.Write(b[cut:])
		checkInvariants(t, term)
		cols, rows := term.Size()
		twin := New(cols, rows, Options{Scrollback: 20, Now: fixedClock})
		_, _ = twin.Write(term.Snapshot(-1))
		if x, y := dump(term), dump(twin); x != y {
			t.Fatalf("snapshot differs: %s", firstDifference(x, y))
		}
	})
}

// recordings returns the raw output of real programs by name.
func recordings(t testing.TB) map[string][]byte {
	files, err := filepath.Glob(filepath.Join(sharedDir(t), "recordings", "*.raw.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	out := make(map[string][]byte)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		out[strings.TrimSuffix(filepath.Base(name), ".raw.gz")] = b
	}
	return out
}

// TestRecordings replays real programs whole, cut and resized, and through a snapshot at every place.
func TestRecordings(t *testing.T) {
	for name, b := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			opts := Options{Now: fixedClock}
			term := New(100, 30, opts)
			_, _ = term.Write(b)
			checkInvariants(t, term)
			rng := rand.New(rand.NewPCG(3, uint64(len(b))))
			cut := New(100, 30, opts)
			randomCuts(rng)(cut, b)
			if x, y := dump(term), dump(cut); x != y {
				t.Errorf("cut: %s", firstDifference(x, y))
			}
			for range rounds(t, 6) {
				at := rng.IntN(len(b))
				first := New(100, 30, opts)
				_, _ = first.Write(b[:at])
				second := New(100, 30, opts)
				_, _ = second.Write(first.Snapshot(-1))
				_, _ = second.Write(b[at:])
				if x, y := dump(term), dump(second); x != y {
					t.Errorf("snapshot at %d: %s", at, firstDifference(x, y))
				}
				_, _ = first.Write(nil)
				first.Resize(1+rng.IntN(200), 1+rng.IntN(60))
				_, _ = first.Write(b[at:])
				checkInvariants(t, first)
			}
		})
	}
}
