package gauge

import (
	"strings"
	"testing"

	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// TestLine: as many cells as asked for, each filled one in the colour of its band.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		share float64
		full  int
	}{{-5, 0}, {0, 0}, {0.4, 0}, {1, 1}, {14, 1}, {15, 2}, {71, 7}, {96, 10}, {100, 10}, {900, 10}} {
		line := Line(c.share, 10)
		text, full := "", 0
		for _, s := range line {
			text += s.Text
			full += strings.Count(s.Text, "━")
			if strings.Contains(s.Text, "━") == (s.Tok == theme.Track) {
				t.Errorf("%v %%: %+v", c.share, s)
			}
		}
		if styled.Width(line...) != 10 || full != c.full {
			t.Errorf("%v %%: %q, want %d full cells", c.share, text, c.full)
		}
	}
	if line := Line(71, 10); len(line) != 4 || line[0].Tok == line[1].Tok || line[1].Tok == line[2].Tok {
		t.Errorf("its bands: %+v", line)
	}
	if line := Line(50, 0); styled.Width(line...) != 0 {
		t.Errorf("without room: %+v", line)
	}
}
