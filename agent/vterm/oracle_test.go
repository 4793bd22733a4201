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
	var s seen
	for y := range j.Rows {
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
		// A text selector on what is no emoji changes nothing; ghostty does not keep it.
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
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh"}
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
