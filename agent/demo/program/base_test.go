package program

import (
	"strings"
	"testing"

	"orchestrator/agent/demo/record"
)

func TestLeaveOut(t *testing.T) {
	for _, c := range []struct{ without, tools string }{
		{"", "list_files read_file write_file edit_file run_command ask_person write_todos"},
		{"todos,tips,of-another-version", "list_files read_file write_file edit_file run_command ask_person"},
		{"editing,shell,tips,todos", "list_files read_file ask_person"},
	} {
		o, err := readOptions([]string{"--session-id", "x", "--leave-out", c.without}, []string{"ANTHROPIC_BASE_URL=http://x", HomeVar + "=/x"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range o.base.tools() {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != c.tools {
			t.Errorf("without %q it offers %s", c.without, got)
		}
		if tips := strings.Contains(o.base.system(), "type help"); tips == strings.Contains(c.without, "tips") {
			t.Errorf("without %q it has tips: %v", c.without, tips)
		}
	}
}

// TestLeftOutTool: a model that calls what it was not offered is told that it is not there.
func TestLeftOutTool(t *testing.T) {
	f, err := openFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.root.Close() }()
	for _, without := range []string{"todos", ""} {
		k := &talk{folder: f, base: base{without: strings.Split(without, ",")}, tell: func(any) {}}
		out, err := k.tool(t.Context(), record.Block{Name: "write_todos", Input: []byte(`{"items":"milk\nbread\n"}`)})
		if without == "" && (err != nil || out != "1. milk\n2. bread\n") ||
			without != "" && (err == nil || err.Error() != `there is no tool "write_todos"`) {
			t.Errorf("without %q: %q, %v", without, out, err)
		}
	}
}
