package page

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestLostIsCalledLost: in a work session as in the history; where the view's columns are printed it is one of its three.
func TestLostIsCalledLost(t *testing.T) {
	var shown, columns strings.Builder
	list := []work.Row{work.RowOf(work.Execution{Name: "exec-001", State: work.Lost})}
	Session(&shown, record.SessionView{Executions: list}, time.Time{})
	Rows(&columns, list, time.Time{})
	if !strings.Contains(shown.String(), "lost") || strings.Contains(columns.String(), "lost") || !strings.Contains(columns.String(), "failed") {
		t.Errorf("%s\n%s", shown.String(), columns.String())
	}
}

// TestHistoryHasTheLastParagraph: an agent says at the end what has come of its work.
func TestHistoryHasTheLastParagraph(t *testing.T) {
	for message, want := range map[string]string{
		"I looked at it.\r\n\r\nThe parser is\nmended.\n": "The parser is mended.", "one line": "one line",
	} {
		if got := rowAbout(work.Row{Message: message}); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
	if got := rowAbout(work.Row{Scope: "fix", Message: "a\n\nb"}); got != "fix: b" {
		t.Errorf("with a scope: %q", got)
	}
	if got := rowAbout(work.Row{Message: "a\n\nb", Error: "it broke\nthere"}); got != "it broke" {
		t.Errorf("of one that failed: %q", got)
	}
}
