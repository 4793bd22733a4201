package agenttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent"
	"orchestrator/agent/dialog"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// The size of recorded screens.
const (
	Cols = 110
	Rows = 36
)

// Recorded returns a screen in the form that a terminal reads: a line of text for each row, with its styles, then the
// title and the cursor.
func Recorded(t *vterm.Terminal) []byte {
	cols, rows := t.Size()
	var b bytes.Buffer
	for y := range rows {
		if y > 0 {
			b.WriteString("\r\n")
		}
		var style vterm.Style
		cells := t.Row(nil, y)[:cols]
		for n := len(cells); n > 0 && cells[n-1] == (vterm.Cell{Rune: ' ', Width: 1}); n-- {
			cells = cells[:n-1]
		}
		for _, c := range cells {
			if c.Width == 0 {
				continue
			}
			c.Style.Link = 0
			if c.Style != style {
				b.Write(c.Style.AppendSGR(nil))
				style = c.Style
			}
			b.Write(c.AppendText(nil))
		}
		if style != (vterm.Style{}) {
			b.WriteString("\x1b[m")
		}
	}
	at := t.Cursor()
	fmt.Fprintf(&b, "\x1b]0;%s\x07\x1b[%d;%dH", t.Title(), at.Y+1, at.X+1)
	if !at.Visible {
		b.WriteString("\x1b[?25l")
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// Play returns a terminal that shows a recorded screen.
func Play(t *testing.T, path string) *vterm.Terminal {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	term := vterm.New(Cols, Rows, vterm.Options{})
	if _, err := term.Write([]byte(strings.TrimSuffix(string(raw), "\n"))); err != nil {
		t.Fatal(err)
	}
	return term
}

// Shot is what an adapter should read from a recorded screen.
type Shot struct {
	State  thread.State // "" if no rule matches
	Hidden bool         // it shows no input
	Input  string       // the content of the input
	Pasted bool         // it shows a placeholder for a long paste
	Asks   string       // the question of its dialog, as asked writes it
}

// asked writes a dialog on one line: "permission: Do you want to proceed? (touch a) >Yes=approve No=deny".
func asked(d dialog.Dialog) string {
	out := string(d.Kind) + ": " + d.Text
	if d.About != "" {
		out += " (" + d.About + ")"
	}
	for i, c := range d.Choices {
		out += " · "
		if i == d.At {
			out += ">"
		}
		out += c.Text
		if c.Means != "" {
			out += "=" + string(c.Means)
		}
	}
	return out
}

// Shots checks what an adapter reads from all screens that were recorded in testdata/screens, by name.
func Shots(t *testing.T, a interface {
	agent.RuleSource
	agent.InputReader
	dialog.Source
}, shots map[string]Shot) {
	t.Helper()
	const dir = "testdata/screens"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(shots) {
		t.Errorf("%d screens are recorded, and %d are expected", len(entries), len(shots))
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".ansi")
		t.Run(name, func(t *testing.T) {
			want, ok := shots[name]
			if !ok {
				t.Error("no shot says what is to be read from it")
			}
			term := Play(t, filepath.Join(dir, e.Name()))
			rule, _ := agent.Match(a.Rules(), strings.Split(term.Text(), "\n"), term.Title())
			if rule.State != want.State {
				t.Errorf("%q (%s), want %q", rule.State, rule.Detail, want.State)
			}
			in, found := a.Input(term)
			if found == want.Hidden || in.Text != want.Input || in.Pasted != want.Pasted {
				t.Errorf("input %+v, found %v; want %+v", in, found, want)
			}
			asks := ""
			if d, ok := dialog.Read(term, a.Dialogs()); ok {
				asks = asked(d)
			}
			if asks != want.Asks {
				t.Errorf("asks\n%s\nwant\n%s", asks, want.Asks)
			}
			if t.Failed() && testing.Verbose() {
				t.Log(term.Text())
			}
		})
	}
}
