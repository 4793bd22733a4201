package ui

import (
	"strings"
	"testing"
)

// TestConsent: what a program may run is typed into it only after a question.
func TestConsent(t *testing.T) {
	shell := func() *server {
		srv := world()
		srv.agents[3].RunsLines = true
		srv.threads[0].Agent, srv.threads[0].RunsLines, srv.threads[0].Launch.Program = "command", true, []string{"bash"}
		return srv
	}
	for _, c := range []struct {
		name, text string
		keys       []string
		want       string // what the server is asked, "" if nothing
	}{
		{"one line", "make test", nil, `send auth-feature-a3f2 "make test" lines=false`},
		{"several", "make\nmake test", []string{"right", "enter"}, `send auth-feature-a3f2 "make\nmake test" lines=true`},
		{"several, declined", "make\nmake test", []string{"enter"}, ""},
		{"several, left", "make\nmake test", []string{"esc"}, ""},
	} {
		t.Run("prompt of "+c.name, func(t *testing.T) {
			on(t, shell(), func(r *rig) {
				r.keys("i")
				for i, line := range strings.Split(c.text, "\n") {
					if i > 0 {
						r.keys("ctrl+j")
					}
					r.text(line)
				}
				r.keys("enter")
				if c.keys != nil {
					r.must("may run each line", "Type them")
				}
				for _, k := range c.keys {
					r.keys(k)
				}
				if c.want != "" {
					r.mustAsk(c.want)
				} else if r.srv.asked("send ") {
					t.Errorf("sent: %q", r.srv.calls)
				}
			})
		})
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"enter"}, ""}, {[]string{"right", "enter"}, "handOver=false"}, {[]string{"right", "right", "enter"}, "handOver=true"},
	} {
		on(t, shell(), func(r *rig) {
			r.keys("f")
			r.text("other")
			r.keys("enter")
			r.must("type the path of the handoff?", "primer.md")
			for _, k := range c.keys {
				r.keys(k)
			}
			if c.want != "" {
				r.mustAsk(`fork auth-feature-a3f2 at "" label "other" agent "" fresh=false program=[] ` + c.want)
			} else if r.srv.asked("fork ") {
				t.Errorf("forked: %q", r.srv.calls)
			}
		})
	}
}
