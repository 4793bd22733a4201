package command_test

import (
	"errors"
	"fmt"
	"testing"

	"orchestrator/agent/command"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestDialogue(t *testing.T) {
	for _, c := range []struct {
		lines       []string
		interrupted bool
		code        int
		want        string
	}{
		{[]string{"one", "", `{"type":"end"}`}, false, 0, `[text "one\n" text "\n" text "{\"type\":\"end\"}\n" end completed ""]`},
		{nil, false, 0, `[end completed ""]`},
		{[]string{"half"}, false, 3, `[text "half\n" end failed "exited with code 3"]`},
		{nil, false, 137, `[end failed "exited with code 137"]`},
		{nil, true, 143, `[end cancelled "interrupted"]`},
		{nil, true, 0, `[end cancelled "interrupted"]`},
	} {
		d := headless(t, thread.LaunchSpec{}).Dialogue
		if s := d.Begin("a\nb"); string(s.Write) != "a\nb\n" || !s.Close || s.Events != nil {
			t.Errorf("begins with %+v", s)
		}
		var all []thread.RunEvent
		for _, line := range c.lines {
			all = append(all, d.Read([]byte(line)).Events...)
		}
		if c.interrupted {
			all = append(all, d.Interrupt().Events...)
		}
		all = append(append(all, d.End(c.code).Events...), d.End(c.code).Events...)
		var got []string
		for _, e := range all {
			if e.Kind == thread.RunEnd {
				got = append(got, fmt.Sprintf("end %s %q", e.Outcome, e.Reason))
			} else {
				got = append(got, fmt.Sprintf("%s %q", e.Kind, e.Text))
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%q: %v, want %s", c.lines, got, c.want)
		}
	}
}

func headless(t *testing.T, spec thread.LaunchSpec) thread.HeadlessLaunch {
	t.Helper()
	spec.Dir, spec.Flags = "/", thread.Flags{Program: []string{"/bin/sh"}}
	l, err := command.New(launch.Config{}).Headless(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestHeadless(t *testing.T) {
	if l := headless(t, thread.LaunchSpec{Resume: true}); l.Launch.Path != "/bin/sh" || l.Launch.Session != "" {
		t.Errorf("%+v", l.Launch)
	}
	spec := thread.LaunchSpec{Dir: "/", Flags: thread.Flags{Program: []string{"/bin/sh"}}, Once: thread.Once{ReadOnly: true}}
	if _, err := command.New(launch.Config{}).Headless(t.Context(), spec); !errors.Is(err, thread.ErrUnsupported) {
		t.Errorf("read-only: %v", err)
	}
}
