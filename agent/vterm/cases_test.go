package vterm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sharedDir finds the folder of shared material beside the project, which is not part of it.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ORCHESTRATOR_SHARED")
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; ; wd = filepath.Dir(wd) {
			if _, err := os.Stat(filepath.Join(wd, "go.mod")); err == nil {
				dir = filepath.Join(filepath.Dir(wd), "shared")
				break
			}
			if wd == filepath.Dir(wd) {
				break
			}
		}
	}
	if _, err := os.Stat(dir); dir == "" || err != nil {
		t.Skip("SKIPPED: the shared conformance cases and recordings are not here; " +
			"run with ORCHESTRATOR_SHARED=<folder with vt-cases and recordings> go test ./agent/vterm/...")
	}
	return dir
}

type caseStep struct {
	In    string `json:"in"`
	InB64 string `json:"inb64"`
	W, H  int
}

func (s caseStep) bytes() []byte {
	if s.InB64 != "" {
		b, err := base64.StdEncoding.DecodeString(s.InB64)
		if err != nil {
			panic(err)
		}
		return b
	}
	return []byte(s.In)
}

// vtCase is one conformance case. SB -2 and absent values are not checked.
type vtCase struct {
	Name, Cat string
	W, H      int
	Steps     []caseStep
	Rows      []string
	Cur       []int
	Reply     string
	Style     map[string]string
	Title     string
	SB        int
	Vis       string
}

func fixedClock() time.Time { return time.Unix(1, 0) }

// canonical writes a style as the cases do.
func canonical(t *Terminal, s Style) string {
	var p []string
	add := func(on bool, name string) {
		if on {
			p = append(p, name)
		}
	}
	add(s.Attr&Bold != 0, "bold")
	add(s.Attr&Dim != 0, "dim")
	add(s.Attr&Italic != 0, "ital")
	add(s.Underline() != UnderlineNone, fmt.Sprintf("u%d", s.Underline()))
	add(s.Attr&Blink != 0, "blink")
	add(s.Attr&Reverse != 0, "rev")
	add(s.Attr&Hidden != 0, "hid")
	add(s.Attr&Strike != 0, "strike")
	add(s.Attr&Overline != 0, "over")
	add(!s.Fg.IsDefault(), "fg="+s.Fg.String())
	add(!s.Bg.IsDefault(), "bg="+s.Bg.String())
	add(!s.Ul.IsDefault(), "ul="+s.Ul.String())
	add(s.Link != 0, "link="+t.Link(s.Link))
	return strings.Join(p, " ")
}

// run plays the case. feed says how bytes are cut.
func (c vtCase) run(feed func(*Terminal, []byte)) (*Terminal, string) {
	var replies strings.Builder
	term := New(c.W, c.H, Options{
		Reply: func(b []byte) { replies.Write(b) }, Version: "1", Now: fixedClock,
	})
	for _, s := range c.Steps {
		if s.W > 0 {
			term.Resize(s.W, s.H)
		} else {
			feed(term, s.bytes())
		}
	}
	return term, replies.String()
}

// check tells what does not hold.
func (c vtCase) check(term *Terminal, replies string) []string {
	var bad []string
	fail := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if c.Rows != nil {
		for y := range term.rows {
			want := ""
			if y < len(c.Rows) {
				want = c.Rows[y]
			}
			if got := term.RowText(y); got != want {
				fail("row %d: got %q, want %q", y, got, want)
			}
		}
	}
	if text := term.Text(); term.Blank() != (strings.TrimSpace(text) == "") {
		fail("blank: got %v of %q", term.Blank(), text)
	}
	cur := term.Cursor()
	if len(c.Cur) == 2 && (cur.X != c.Cur[0] || cur.Y != c.Cur[1]) {
		fail("cursor: got %d,%d, want %v", cur.X, cur.Y, c.Cur)
	}
	if c.Reply != "" && !regexp.MustCompile(c.Reply).MatchString(replies) {
		fail("reply: got %q, want %s", replies, c.Reply)
	}
	for at, want := range c.Style {
		var x, y int
		if _, err := fmt.Sscanf(at, "%d,%d", &x, &y); err != nil {
			fail("bad place %q", at)
			continue
		}
		if got := canonical(term, term.Row(nil, y)[x].Style); got != want {
			fail("style at %s: got %q, want %q", at, got, want)
		}
	}
	if c.Title != "" && term.Title() != c.Title {
		fail("title: got %q, want %q", term.Title(), c.Title)
	}
	if c.SB != -2 && term.history.count != c.SB {
		fail("history: got %d lines, want %d", term.history.count, c.SB)
	}
	if c.Vis != "" && fmt.Sprint(cur.Visible) != c.Vis {
		fail("cursor visible: got %v, want %s", cur.Visible, c.Vis)
	}
	return bad
}

func whole(t *Terminal, b []byte) { _, _ = t.Write(b) }

func byteByByte(t *Terminal, b []byte) {
	for i := range b {
		_, _ = t.Write(b[i : i+1])
	}
}

func randomCuts(rng *rand.Rand) func(*Terminal, []byte) {
	return func(t *Terminal, b []byte) {
		for len(b) > 0 {
			n := 1 + rng.IntN(min(len(b), 7))
			_, _ = t.Write(b[:n])
			b = b[n:]
		}
	}
}

// runCases plays every case whole, byte by byte and cut at random: the outcome must be the same.
func runCases(t *testing.T, cases []vtCase) {
	for _, c := range cases {
		t.Run(c.Cat+"/"+c.Name, func(t *testing.T) {
			feeds := map[string]func(*Terminal, []byte){
				"whole": whole, "byte by byte": byteByByte,
				"cut": randomCuts(rand.New(rand.NewPCG(1, uint64(len(c.Name))))),
			}
			for how, feed := range feeds {
				term, replies := c.run(feed)
				for _, s := range c.check(term, replies) {
					t.Errorf("%s: %s", how, s)
				}
				checkInvariants(t, term)
			}
		})
	}
}

func TestSharedCases(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(sharedDir(t), "vt-cases", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []vtCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	runCases(t, cases)
}

// checkInvariants verifies what must hold between any two calls.
func checkInvariants(t testing.TB, term *Terminal) {
	t.Helper()
	if term.x < 0 || term.x >= term.cols || term.y < 0 || term.y >= term.rows {
		t.Fatalf("cursor %d,%d outside %dx%d", term.x, term.y, term.cols, term.rows)
	}
	if term.top < 0 || term.bottom >= term.rows || term.top > term.bottom {
		t.Fatalf("region %d..%d of %d", term.top, term.bottom, term.rows)
	}
	for _, s := range []*screen{&term.main, &term.alt} {
		if len(s.rows) != term.rows {
			t.Fatalf("%d rows, want %d", len(s.rows), term.rows)
		}
		seen := make(map[*row]bool)
		for y, r := range s.rows {
			if seen[r] {
				t.Fatalf("row %d occurs twice", y)
			}
			seen[r] = true
			if r.used > term.cols || r.used > 0 && len(r.cells) != term.cols {
				t.Fatalf("row %d: used %d, %d cells, %d columns", y, r.used, len(r.cells), term.cols)
			}
			for x := 0; x < r.used; x++ {
				c := r.cells[x]
				if int(c.style()) >= len(term.styles.vals) {
					t.Fatalf("cell %d,%d: style %d unknown", x, y, c.style())
				}
				if c.ch&clusterBit != 0 && int(c.ch&^clusterBit) >= len(term.clusters.vals) {
					t.Fatalf("cell %d,%d: cluster unknown", x, y)
				}
				switch c.width() {
				case 2:
					if x+1 >= r.used || r.cells[x+1].width() != 0 {
						t.Fatalf("cell %d,%d: wide without its right half", x, y)
					}
				case 0:
					if x == 0 || r.cells[x-1].width() != 2 {
						t.Fatalf("cell %d,%d: right half without a left", x, y)
					}
				}
			}
		}
	}
	if term.history.count > term.history.maxLines || term.scrolled < uint64(term.history.count) {
		t.Fatalf("history of %d lines, %d scrolled", term.history.count, term.scrolled)
	}
}
