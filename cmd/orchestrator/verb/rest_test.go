package verb

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
	"orchestrator/thread/ground/await"
)

// counted shows how many messages of a kind came.
type counted struct{ n int }

func (*counted) Init() tea.Cmd { return nil }

func (c *counted) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(time.Time); ok {
		c.n++
	}
	return c, nil
}

func (c *counted) View() tea.View { return tea.NewView(fmt.Sprintf("<%d>", c.n)) }

// screenText is a terminal.
type screenText struct {
	mu   sync.Mutex
	term *vterm.Terminal
}

func (s *screenText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.Write(b)
}

func (s *screenText) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.term.Text(), text)
}

// TestRendererRests: Bubble Tea's renderer stops looking for something to draw while no message comes, and draws what a
// message changes. It fails where a version of Bubble Tea hides its ticker: then an idle screen costs a per cent of a core.
func TestRendererRests(t *testing.T) {
	g, out := &guarded{model: &counted{}}, &screenText{term: vterm.New(20, 5, vterm.Options{})}
	p := g.program(tea.WithInput(nil), tea.WithOutput(out), tea.WithWindowSize(20, 5), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() { _, err := p.Run(); ended <- err }()
	rests := func() bool {
		g.rest.mu.Lock()
		defer g.rest.mu.Unlock()
		return g.rest.rests
	}
	for n := range 5 {
		await.Until(t, "the renderer rests", rests)
		p.Send(time.Now())
		await.Until(t, "the screen is drawn", func() bool { return out.has(fmt.Sprintf("<%d>", n+1)) })
	}
	for range 200 { // many messages, none of which gives it time to rest
		p.Send(time.Now())
	}
	await.Until(t, "the last one is drawn", func() bool { return out.has("<205>") })
	p.Quit()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
