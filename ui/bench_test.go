package ui

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/connection"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// many is a project with n threads, a third of them forks.
func many(n int) []thread.Status {
	states := []thread.State{thread.StateIdle, thread.StateWorking, thread.StateExited, thread.StateDone, thread.StateApproval}
	all := make([]thread.Status, n)
	for i := range all {
		parent := ""
		if i%3 == 2 {
			parent = fmt.Sprintf("thread-%04d", i/2)
		}
		all[i] = status(fmt.Sprintf("thread-%04d", i), parent, states[i%len(states)], i)
		all[i].Gauge = thread.Gauge{Tokens: int64(i * 100), Window: 200_000, CostUSD: 0.1}
	}
	return all
}

func benchModel(threads []thread.Status) *Model {
	m := New(Config{Server: &server{}, Pane: &pane{}, Project: "/work/project", Theme: "dark", Profile: colorprofile.TrueColor, After: func(time.Duration, tea.Msg) tea.Cmd { return nil }})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	m.Update(connection.Listed{Threads: threads})
	m.Update(press("esc"))
	return m
}

// BenchmarkFirstFrame is from the list's arrival to the first frame, with 1,000 and 5,000 threads.
func BenchmarkFirstFrame(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			threads := many(n)
			for b.Loop() {
				m := benchModel(threads)
				if m.View().Content == "" {
					b.Fatal("nothing is drawn")
				}
				m.Close()
			}
		})
	}
}

// BenchmarkFrame is an event of one of 1,000 threads and the frame that follows.
func BenchmarkFrame(b *testing.B) {
	threads := many(1000)
	m := benchModel(threads)
	defer m.Close()
	for i := 0; b.Loop(); i++ {
		s := threads[i%len(threads)]
		s.State.State = thread.StateWorking
		m.Update(connection.Happened{Gen: m.conn.Generation(), Events: []thread.Event{{Seq: int64(i + 1), Kind: thread.EventThread, Status: &s}}})
		m.screen.stale = true
		if m.View().Content == "" {
			b.Fatal("nothing is drawn")
		}
	}
}

// BenchmarkKeyToAgent is a key that goes to the agent: nothing is drawn for it.
func BenchmarkKeyToAgent(b *testing.B) {
	m := benchModel(many(1000))
	defer m.Close()
	m.tree.Select("thread-0001")
	m.Update(settledMsg{m.follow.Generation()})
	m.Update(press("enter"))
	for b.Loop() {
		m.Update(press("x"))
		m.View()
	}
}
