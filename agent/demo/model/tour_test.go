package model

import (
	"strings"
	"testing"

	"orchestrator/agent/scripted"
)

// narrow is the width of an agent's terminal beside the list at 80 columns, without the demo's indent.
const narrow = 46

// Everything that the demo says to type is understood, and fits beside the list on a narrow screen.
func TestWhatItSaysToType(t *testing.T) {
	tools := []scripted.Tool{{Name: "mcp__orch__notes__add", Params: []byte(`{"properties":{"text":{"type":"string"}},"required":["text"]}`)}}
	for _, text := range []string{tour, help} {
		n := 0
		for _, line := range strings.Split(text, "\n") {
			ask, listed := strings.CutPrefix(line, "- ")
			if !listed {
				continue
			}
			n++
			if len(line) > narrow {
				t.Errorf("%q is %d wide", line, len(line))
			}
			if at := strings.LastIndex(ask, " ("); at > 0 {
				ask = ask[:at]
			}
			if strings.HasPrefix(ask, "#") { // marks
				for _, mark := range strings.Split(ask, ", ") {
					if faults("say x "+mark) == (fault{}) && manners("say x "+mark) == manners("say x") {
						t.Errorf("%q means nothing", mark)
					}
				}
				continue
			}
			got := next(scripted.Turn{Prompt: ask, Tools: tools})
			if len(got.Calls) == 0 && strings.Contains(got.Text, "do not know") {
				t.Errorf("%q is not understood", ask)
			}
			if strings.Contains(ask, "#") && faults(ask) == (fault{}) {
				t.Errorf("%q has no mark", ask)
			}
		}
		if n < 9 {
			t.Errorf("only %d in %q", n, text)
		}
	}
}

// What the demo has said of its marks, in a handoff or a quotation, fails nothing.
func TestQuotedTourFailsNothing(t *testing.T) {
	for _, text := range []string{tour, help} {
		handed := "# Handoff\n\n### Turn 1\n\n> hello\n\n" + text + "\n\n## Now\n\nGo on.\n\nlist files"
		for _, prompt := range []string{handed, "you said:\n" + text, strings.ReplaceAll("> "+text, "\n", "\n> ")} {
			if f := faults(unquoted(prompt)); f != (fault{}) {
				t.Errorf("%+v by %q", f, prompt)
			}
		}
	}
}
