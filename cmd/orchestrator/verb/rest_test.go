package verb

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// running runs a model's program on a terminal until the test ends.
func running(t *testing.T, g *guarded, out io.Writer) *tea.Program {
	t.Helper()
	p := g.program(tea.WithInput(nil), tea.WithOutput(out), tea.WithWindowSize(20, 5), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() { ended <- g.run(p) }()
	t.Cleanup(func() {
		p.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// resting tells whether the renderer has drawn what there is and looks for nothing.
func (r *rest) resting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.looks && r.ticks != nil && r.views > 0
}

// TestRendererRests: Bubble Tea's renderer stops looking for something to draw while no message comes, and draws what a
// message changes. It fails where a version of Bubble Tea hides its ticker: then an idle screen costs a per cent of a core.
func TestRendererRests(t *testing.T) {
	g, out := &guarded{model: &counted{}}, &screenText{term: vterm.New(20, 5, vterm.Options{})}
	p := running(t, g, out)
	for n := range 5 {
		await.Until(t, "the renderer rests", g.rest.resting)
		p.Send(time.Now())
		await.Until(t, "the screen is drawn", func() bool { return out.has(fmt.Sprintf("<%d>", n+1)) })
	}
	for range 200 { // many messages, none of which gives it time to rest
		p.Send(time.Now())
	}
	await.Until(t, "the last one is drawn", func() bool { return out.has("<205>") })
	await.Until(t, "the renderer rests", g.rest.resting)
	g.rest.mu.Lock()
	before := g.rest.views
	g.rest.mu.Unlock()
	time.Sleep(3 * restAfter)
	g.rest.mu.Lock()
	defer g.rest.mu.Unlock()
	if g.rest.looks || g.rest.views != before {
		t.Errorf("nothing happened, and the renderer woke: %d views, were %d", g.rest.views, before)
	}
}

// slowText is a terminal that takes nothing while it is held.
type slowText struct {
	screenText
	held    sync.Mutex
	waiting atomic.Bool
}

func (s *slowText) Write(b []byte) (int, error) {
	s.waiting.Store(true)
	s.held.Lock()
	defer s.held.Unlock()
	s.waiting.Store(false)
	return s.screenText.Write(b)
}

// TestSlowWriteEndsWithTheNewestView: what came while the renderer was writing, for longer than it looks after a message,
// is drawn without another message.
func TestSlowWriteEndsWithTheNewestView(t *testing.T) {
	g, out := &guarded{model: &counted{}}, &slowText{screenText: screenText{term: vterm.New(20, 5, vterm.Options{})}}
	p := running(t, g, out)
	for n := 0; n < 6; n += 2 {
		await.Until(t, "the renderer rests", g.rest.resting)
		out.held.Lock()
		p.Send(time.Now())
		await.Until(t, "it writes", out.waiting.Load)
		p.Send(time.Now()) // its view waits until the renderer has written
		time.Sleep(3 * restAfter)
		if g.rest.resting() {
			t.Error("the renderer rests, and has not drawn the newest view")
		}
		out.held.Unlock()
		await.Within(t, 10*time.Second, "the newest view", func() bool { return out.has(fmt.Sprintf("<%d>", n+2)) })
	}
}

// TestRestsOnlyUponTheNewestView: whatever takes long, the program between a model's view and giving it to the renderer, or
// the renderer while it writes: it rests once it has drawn the newest view, and not before.
func TestRestsOnlyUponTheNewestView(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			times := func(of uint64) func() {
				random := rand.New(rand.NewPCG(seed, of))
				return func() { time.Sleep(time.Duration(random.IntN(3)*random.IntN(100)) * time.Millisecond) }
			}
			messages := make(chan bool) // true is settledMsg
			r := &rest{ticks: make(chan time.Time), ended: make(chan struct{}), ask: func() { messages <- true }}
			lock := make(chan struct{}, 1) // of the renderer
			view, drawn := 0, 0
			go func() { // Bubble Tea's renderer
				write := times(3)
				for {
					select {
					case <-r.ticks:
					case <-r.ended:
						return
					}
					lock <- struct{}{}
					if now := view; now != drawn {
						write()
						drawn = now
					}
					<-lock
				}
			}()
			go func() { // its event loop
				late := times(1)
				for n := 0; ; {
					select {
					case settled := <-messages:
						if settled {
							r.settled()
							continue
						}
						n++
						r.awake()
						late()
						lock <- struct{}{}
						view = n
						<-lock
					case <-r.ended:
						return
					}
				}
			}()
			const all = 20
			pause := times(2)
			for range all {
				messages <- false
				pause()
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if drawn != all || !r.resting() {
				t.Errorf("seed %d: %d views of %d are drawn, it rests: %v", seed, drawn, all, r.resting())
			}
			r.end()
		})
	}
}
