package vterm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// seen is a screen as an emulator shows it.
type seen struct {
	Rows []string `json:"rows"`
	X    int      `json:"x"`
	Y    int      `json:"y"`
}

type job struct {
	Name string `json:"-"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Data []byte `json:"data"`
	// The size that the screen gets after the data; 0 leaves it.
	ToCols int `json:"toCols,omitempty"`
	ToRows int `json:"toRows,omitempty"`
}

// jobs are the recordings, whole and cut at some places each.
func jobs(t *testing.T, places int) (out []job) {
	all := recordings(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		b := all[name]
		rng := rand.New(rand.NewPCG(4, uint64(len(b))))
		cuts := []int{len(b)}
		for range places {
			cuts = append(cuts, rng.IntN(len(b)))
		}
		for _, at := range cuts {
			out = append(out, job{Name: fmt.Sprintf("%s cut at %d of %d", name, at, len(b)), Cols: 120, Rows: 40, Data: b[:at]})
		}
	}
	return out
}

func ours(j job) seen {
	term := New(j.Cols, j.Rows, Options{Now: fixedClock})
	_, _ = term.Write(j.Data)
	if j.ToCols > 0 {
		term.Resize(j.ToCols, j.ToRows)
	}
	var s seen
	_, rows := term.Size()
	for y := range rows {
		s.Rows = append(s.Rows, term.RowText(y))
	}
	c := term.Cursor()
	s.X, s.Y = c.X, c.Y
	return s
}

// differences lists the rows in which a screen differs from ours.
func differences(ours, other seen) (out []string) {
	for y := range ours.Rows {
		want := ""
		if y < len(other.Rows) {
			want = other.Rows[y]
		}
		// A text selector on what is not an emoji changes nothing; ghostty does not keep it.
		if strings.ReplaceAll(ours.Rows[y], "\ufe0e", "") != strings.ReplaceAll(want, "\ufe0e", "") {
			out = append(out, fmt.Sprintf("row %d:\n  ours  %q\n  other %q", y, ours.Rows[y], want))
		}
	}
	if ours.X != other.X || ours.Y != other.Y {
		out = append(out, fmt.Sprintf("cursor: ours %d,%d, other %d,%d", ours.X, ours.Y, other.X, other.Y))
	}
	return out
}

// TestRecordingsLikeTmux shows the recordings in tmux and compares the screens.
func TestRecordingsLikeTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux is not installed; install it and run go test -run LikeTmux ./agent/vterm")
	}
	all := jobs(t, 1)
	for i, s := range tmuxScreens(t, tmux, all) {
		for _, d := range differences(ours(all[i]), s) {
			t.Errorf("%s: %s", all[i].Name, d)
		}
	}
}

// tmuxScreens plays every job in a pane of its own.
func tmuxScreens(t *testing.T, tmux string, all []job) []seen {
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(tmux, append([]string{"-f", "/dev/null", "-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8",
			"SHELL=/bin/sh"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("-u", "new-session", "-d", "-x", fmt.Sprint(all[0].Cols), "-y", fmt.Sprint(all[0].Rows), "cat")
	t.Cleanup(func() { run("kill-server") })
	run("set", "-g", "status", "off")
	var panes, files []string
	for i, j := range all {
		file := filepath.Join(dir, fmt.Sprintf("in%d", i))
		if err := os.WriteFile(file, j.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		pane := strings.TrimSpace(run("new-window", "-P", "-F", "#{pane_id}",
			fmt.Sprintf("stty raw -echo; cat %s; touch %s.done; exec cat >/dev/null", file, file)))
		panes, files = append(panes, pane), append(files, file)
	}
	var out []seen
	for i, j := range all {
		out = append(out, tmuxScreen(t, run, panes[i], files[i]+".done", j))
	}
	return out
}

// tmuxScreen waits until a pane has taken its file and the screen stays.
func tmuxScreen(t *testing.T, run func(...string) string, pane, done string, j job) seen {
	deadline := time.Now().Add(60 * time.Second)
	last := ""
	for same := 0; same < 3; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: tmux does not come to rest", j.Name)
		}
		time.Sleep(10 * time.Millisecond)
		if _, err := os.Stat(done); err != nil {
			continue
		}
		now := run("display", "-p", "-t", pane, "#{cursor_x} #{cursor_y}") + run("capture-pane", "-p", "-t", pane)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	var s seen
	head, text, _ := strings.Cut(last, "\n")
	_, _ = fmt.Sscan(head, &s.X, &s.Y)
	s.X = min(s.X, j.Cols-1)
	for _, row := range strings.Split(text, "\n") {
		s.Rows = append(s.Rows, strings.TrimRight(row, " "))
	}
	run("kill-pane", "-t", pane)
	return s
}

// oracles plays jobs in xterm.js and ghostty.
func oracles(t *testing.T, all []job) []map[string]seen {
	dir := os.Getenv("ORCHESTRATOR_ORACLES")
	node, err := exec.LookPath("node")
	if dir == "" || err != nil {
		t.Skip("SKIPPED: xterm.js and ghostty are not here; run: go tool -modfile=.tools/go.mod task oracles")
	}
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "testdata/oracle.mjs", dir)
	cmd.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, errs.Bytes())
	}
	var out []map[string]seen
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecordingsLikeOthers compares the recordings with xterm.js and ghostty.
func TestRecordingsLikeOthers(t *testing.T) {
	all := jobs(t, 8)
	for i, screens := range oracles(t, all) {
		mine := ours(all[i])
		for name, s := range screens {
			for _, d := range differences(mine, s) {
				t.Errorf("%s: %s: %s", name, all[i].Name, d)
			}
		}
	}
}

// plain are the sequences in which the oracles are good enough to be judges: in origin mode both move
// the cursor down on CHA, neither resets the margins on DECALN, and both take a tab back at the waiting
// wrap for nothing; xterm does otherwise.
var plain = []string{
	"abc", "hello world", "漢字", "é", "e\u0301", "😀", "\r", "\n", "\r\n", "\b", "\t", "\t\t", "\v", "\x1b7", "\x1b8",
	"\x1bD", "\x1bE", "\x1bM", "\x1bH",
	"\x1b[g", "\x1b[3g", "\x1b(0qx\x1b(B", "\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[s", "\x1b[u", "\x1b[!p", "\x1bc", "\x1b[r", "\x1b[?25l",
	"\x0e", "\x0f", "\x1b)0",
	"\x1b[?1048h", "\x1b[?1048l", "\x1b[?1047h", "\x1b[?1047l", "\x18", "\x1b[1\x18m", "\x1b[2;2H\x1a", "\x1b]0;t\x07",
	"\x1bP$qm\x1b\\",
}

// plainSession makes a session of sequences of which every emulator has the same idea.
func plainSession(rng *rand.Rand) []byte {
	var b []byte
	for range 4 + rng.IntN(14) {
		switch rng.IntN(6) {
		case 0, 1:
			b = append(b, plain[rng.IntN(len(plain))]...)
		case 2:
			b = append(b, strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(25))...)
		case 3:
			b = fmt.Appendf(b, "\x1b[%d;%dr", 1+rng.IntN(6), 1+rng.IntN(7))
		case 4:
			b = fmt.Appendf(b, "\x1b[%d;%dH", rng.IntN(9), rng.IntN(23))
		case 5:
			const finals = "ABCDEFGIJKLMPSTX@`abdefGJK"
			b = append(b, "\x1b["...)
			if rng.IntN(4) > 0 {
				b = fmt.Appendf(b, "%d", rng.IntN(5))
			}
			b = append(b, finals[rng.IntN(len(finals))])
		}
	}
	return b
}

// flowing makes a session of lines of any length.
func flowing(rng *rand.Rand) []byte {
	var b []byte
	for range 2 + rng.IntN(9) {
		switch rng.IntN(4) {
		case 0:
			b = append(b, strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(30))...)
		case 1:
			b = append(b, "\r\n"...)
		case 2:
			b = append(b, "漢字-word-and-more"...)
		case 3:
			b = append(b, "\r\n\r\nline"...)
		}
	}
	return b
}

// TestRandomLikeOthers plays random sessions, some with a new size at the end; where xterm.js and
// ghostty agree, so must we.
func TestRandomLikeOthers(t *testing.T) {
	var all []job
	for seed := range rounds(t, 2000) {
		rng := rand.New(rand.NewPCG(9, uint64(seed)))
		j := job{Name: fmt.Sprint("session ", seed), Cols: 20, Rows: 6}
		if seed%3 == 0 {
			j.Cols, j.Data, j.ToCols, j.ToRows = 12, flowing(rng), 4+rng.IntN(20), 3+rng.IntN(8)
		} else {
			j.Data = plainSession(rng)
		}
		all = append(all, j)
	}
	judged, bad := 0, 0
	for i, screens := range oracles(t, all) {
		x, g := screens["xterm"], screens["ghostty"]
		if len(differences(x, g)) > 0 {
			continue
		}
		judged++
		if d := differences(ours(all[i]), x); len(d) > 0 {
			bad++
			t.Errorf("%s: %q: %s", all[i].Name, all[i].Data, strings.Join(d, "\n"))
		}
	}
	t.Logf("%d sessions, the two agree in %d, we differ in %d", len(all), judged, bad)
}
