package ui

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/host"
)

// wants is a message of a pane whose program wants to put a text on the clipboard.
type wants struct {
	id   thread.ID
	text string
}

func (w wants) Wants() (thread.ID, string) { return w.id, w.text }

// TestAgentClipboard: an agent's text is on the clipboard only after a person has agreed, and is asked about once.
func TestAgentClipboard(t *testing.T) {
	on(t, world(), func(r *rig) {
		s := r.m.tree.Selected()
		said := func(part string) bool {
			return slices.ContainsFunc(r.m.host.Notices.All(), func(n host.Notice) bool { return strings.Contains(n.Text, part) })
		}
		r.send(wants{s.ID, "secret one"})
		if !said("its agent wants to put 10 B on the clipboard. y in the list shows it") {
			t.Fatalf("nothing is asked: %v", r.m.host.Notices.All())
		}
		n := len(r.m.host.Notices.All())
		if r.send(wants{s.ID, "secret two"}); len(r.m.host.Notices.All()) != n {
			t.Error("it asks twice")
		}
		r.keys("y")
		r.must("secret two", "Not now")
		r.keys("enter")
		if said("copied") {
			t.Error("copied without consent")
		}
		r.keys("y")
		r.must("Always for this thread")
		r.keys("right", "right", "enter")
		if !said("text of its agent copied, 10 B") {
			t.Errorf("not copied with consent: %v", r.m.host.Notices.All())
		}
		if r.send(wants{s.ID, "three"}); !said("text of its agent copied, 5 B") {
			t.Error("it asks again after it was allowed")
		}
		r.send(wants{"another", "x"})
		r.send(wants{"another", "y"})
		if said("text of its agent copied, 1 B") {
			t.Error("consent for one thread holds for another")
		}
	})
}

// TestCopyAnswer: Y copies the last answer of the selected thread, y in a turn what the cursor is on.
func TestCopyAnswer(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("Y")
		if !slices.ContainsFunc(r.m.host.Notices.All(), func(n host.Notice) bool { return strings.Contains(n.Text, "answer of turn") }) {
			t.Errorf("%v", r.m.host.Notices.All())
		}
		r.keys("tab", "down", "enter")
		r.see()
		r.keys("y")
		if !slices.ContainsFunc(r.m.host.Notices.All(), func(n host.Notice) bool { return strings.Contains(n.Text, "prompt copied") }) {
			t.Errorf("%v", r.m.host.Notices.All())
		}
	})
}
