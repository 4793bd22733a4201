package paint_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui"
	"orchestrator/ui/connection"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

// nowhere is a terminal that shows nothing.
type nowhere struct{ io.Writer }

func (nowhere) Read([]byte) (int, error) { return 0, io.EOF }
func (nowhere) Close() error             { return nil }
func (nowhere) Fd() uintptr              { return ^uintptr(0) }

// BenchmarkSpin is a frame in which only spinners turn, 20 threads of 1,000 at work: painted past Bubble Tea, and, to
// compare, with a picture of the whole screen, which is composed, parsed and compared.
func BenchmarkSpin(b *testing.B) {
	const cols, rows = 200, 50
	threads := make([]thread.Status, 1000)
	for i := range threads {
		s := &threads[i]
		s.Thread = thread.Thread{ID: thread.ID(fmt.Sprintf("thread-%04d", i)), Label: fmt.Sprintf("thread %d", i), Agent: "demo"}
		s.State.State, s.State.Since = thread.StateIdle, time.Now().Add(-time.Hour)
		s.Execution = &thread.Execution{ID: "e"}
		if i < 20 {
			s.State.State = thread.StateWorking
		}
	}
	w := paint.New(nowhere{io.Discard}, colorprofile.TrueColor, cols, rows)
	defer func() { _ = w.Close() }()
	var places []layout.Point
	m := ui.New(ui.Config{Project: "/work/project", Theme: "dark", Profile: colorprofile.TrueColor,
		Turn:  func(p []layout.Point) { places = append(places[:0], p...); w.Turn(p) },
		After: func(time.Duration, tea.Msg) tea.Cmd { return nil }})
	defer m.Close()
	m.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
	m.Update(connection.Listed{Threads: threads})

	var out bytes.Buffer
	fmt.Fprint(w, "\x1b[?1049h")
	renderer, screen := uv.NewTerminalRenderer(&out, []string{"TERM=xterm-256color"}), uv.NewScreenBuffer(cols, rows)
	renderer.SetFullscreen(true)
	renderer.SetRelativeCursor(false)
	draw := func() { // what Bubble Tea does
		screen.Clear()
		uv.NewStyledString(m.View().Content).Draw(screen, screen.Bounds())
		renderer.Render(screen.RenderBuffer)
		if err := renderer.Flush(); err != nil {
			b.Fatal(err)
		}
		_, _ = w.Write(out.Bytes())
		out.Reset()
	}
	draw()
	if len(places) < 18 {
		b.Fatalf("%d marks turn", len(places))
	}
	b.Run("painted", func(b *testing.B) {
		for b.Loop() {
			w.TurnNow()
		}
	})
	b.Run("composed", func(b *testing.B) {
		for b.Loop() {
			m.Update(tea.ColorProfileMsg{}) // has all drawn again
			draw()
		}
	})
}
