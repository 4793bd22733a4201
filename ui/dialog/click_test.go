package dialog

import (
	"strings"
	"testing"

	"orchestrator/agent/vterm"
	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

type clicked string

func (clicked) DialogResult() {}

// clicker shows dialogs on a screen and clicks on what stands there.
type clicker struct {
	t     *testing.T
	stack Stack
	c     layout.Canvas
	keys  *intent.Table
}

func newClicker(t *testing.T, d Dialog) *clicker {
	keys, err := intent.NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &clicker{t: t, keys: keys}
	k.stack.Push(d)
	return k
}

// on clicks on a text, and returns the result.
func (k *clicker) on(text string) Result {
	k.t.Helper()
	k.c.Reset(80, 24)
	k.stack.Draw(&k.c, theme.New(colorprofile.NoTTY, true), k.keys)
	term := vterm.New(80, 24, vterm.Options{})
	_, _ = term.Write([]byte(strings.ReplaceAll(k.c.String(), "\n", "\r\n")))
	for y := range 24 {
		if before, _, ok := strings.Cut(term.RowText(y), text); ok {
			return k.stack.Click(plain.Width(before), y)
		}
	}
	k.t.Fatalf("%q is not on\n%s", text, k.c.String())
	return nil
}

func TestClickChoices(t *testing.T) {
	ask := func() *Ask {
		return NewAsk("sure?", Plain("body"), Cancel("Keep"), Choice{Label: "Copy", Result: clicked("copy")},
			Choice{Label: "Delete", Result: clicked("delete"), Danger: true})
	}
	if got := newClicker(t, ask()).on("Copy"); got != clicked("copy") {
		t.Errorf("a click on a choice: %v", got)
	}
	k := newClicker(t, ask())
	if got := k.on("Delete"); got != nil || !k.stack.Open() {
		t.Errorf("the first click on what does harm: %v", got)
	}
	if got := k.on("body"); got != nil {
		t.Errorf("a click on the text: %v", got)
	}
	if got := k.stack.Click(0, 0); got != nil || !k.stack.Open() {
		t.Errorf("a click beside a question: %v", got)
	}
	if got := k.on("Delete"); got != clicked("delete") || k.stack.Open() {
		t.Errorf("the second click on what does harm: %v", got)
	}
	var long []string
	for range 100 {
		long = append(long, "line")
	}
	k = newClicker(t, NewAsk("read", Plain(long...), Cancel("Keep"), Choice{Label: "Accept", Result: clicked("yes"), Read: true}))
	if got := k.on("Accept"); got != nil {
		t.Errorf("accepted unread: %v", got)
	}
}

func TestClickRows(t *testing.T) {
	k := newClicker(t, NewPicker("pick", []Item{{Title: "first", Result: clicked("1")}, {Title: "second", Result: clicked("2")}}))
	if got := k.on("second"); got != nil {
		t.Errorf("the first click chooses %v", got)
	}
	if got := k.on("second"); got != clicked("2") {
		t.Errorf("the second click chooses %v", got)
	}
	k = newClicker(t, NewText("text", Plain("read me")))
	if k.on("read me"); !k.stack.Open() {
		t.Error("a click on a text closes it")
	}
	if k.stack.Click(0, 0); k.stack.Open() {
		t.Error("a click beside a text does not close it")
	}
}

func TestClickFields(t *testing.T) {
	name := &Input{Label: "Name", Text: field.New("x")}
	agent := &Input{Label: "Agent", Options: []Option{{Value: "claude"}, {Value: "codex"}, {Value: "demo"}}}
	yes := YesNo("Worktree", false, "")
	f := NewForm("new", func() (Result, string) { return clicked("sent"), "" }, name, agent, yes)
	k := newClicker(t, f)
	for _, text := range []string{"codex", "demo", "yes", "Name"} {
		if got := k.on(text); got != nil || !k.stack.Open() {
			t.Fatalf("a click on %s ends the form: %v", text, got)
		}
	}
	if agent.Choice() != "demo" || !yes.On() || f.at != 0 {
		t.Errorf("%s is chosen, worktree %v, in field %d", agent.Choice(), yes.On(), f.at)
	}
	if k.stack.Click(0, 0); !k.stack.Open() {
		t.Error("a click beside a form closes it")
	}
}
