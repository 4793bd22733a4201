package opencode

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestComplete(t *testing.T) {
	const (
		user = `{"info":{"id":"msg_0000000000a0abcdefghij","sessionID":"ses_1","role":"user","agent":"build",` +
			`"model":{"providerID":"fm","modelID":"fake-1"}},"parts":[]}` + "\n"
		call = `{"info":{"id":"msg_0000000000a1abcdefghij","sessionID":"ses_1","parentID":"msg_0000000000a0abcdefghij",` +
			`"role":"assistant","agent":"build","mode":"build","path":{"cwd":"/w","root":"/w"},"modelID":"fake-1",` +
			`"providerID":"fm","finish":"tool-calls"},"parts":[]}` + "\n"
		ended = `{"info":{"id":"msg_0000000000a2abcdefghij","sessionID":"ses_1","role":"assistant","finish":"stop"},` +
			`"parts":[{"type":"text","text":"said"}]}` + "\n"
	)
	for name, c := range map[string]struct {
		main, answer string
		added        bool
	}{
		"a prompt alone":     {user, "said", true},
		"behind a tool call": {user + call, "said", true},
		"answered":           {user + call + ended, "said", false},
		"ends otherwise":     {user + call, "", false},
	} {
		got, err := complete([]byte(c.main), "/w", c.answer)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rest, ok := strings.CutPrefix(string(got), c.main)
		if !ok || (rest != "") != c.added {
			t.Errorf("%s: %q", name, got)
		}
		if !c.added {
			continue
		}
		all, err := (&Agent{}).ReadUsage([]thread.Chunk{{File: mainFile, Data: got}})
		if last := len(all) - 1; err != nil || last < 0 || all[last].Text != c.answer || !all[last].EndsTurn ||
			all[last].Model != "fm/fake-1" && all[last].Model != "fake-1" {
			t.Errorf("%s: read as %+v, %v", name, all, err)
		}
		for _, want := range []string{`"sessionID":"ses_1"`, `"parentID":"msg_0000000000a0abcdefghij"`, `"root":"/w"`,
			`"providerID":"fm"`, `"mode":"build"`} {
			if !strings.Contains(rest, want) {
				t.Errorf("%s: %s is not in %s", name, want, rest)
			}
		}
		if id := rest[strings.Index(rest, `"msg_`)+1:]; id < "msg_0000000000a0zzzzzz" {
			t.Errorf("%s: it sorts before an existing id: %.30s", name, id)
		}
	}
	for _, bad := range []string{"", "{\n", `{"info":{"id":"x","role":"user"}}` + "\n"} {
		if _, err := complete([]byte(bad), "/w", "said"); !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
