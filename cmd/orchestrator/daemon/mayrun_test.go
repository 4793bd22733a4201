package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// TestMayWorkIn: links do not lead out of the project, and what was checked is what is used.
func TestMayWorkIn(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"real/sub", "realer", "other"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"project": at("real"), "real/out": at("other"), "real/up": "..", "real/in": "sub"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{Config: Config{Project: at("project")}}
	run := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: []thread.Grant{grant.Run}}
	start := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: []thread.Grant{grant.Start}}
	for dir, want := range map[string]string{
		"":                     "",
		at("project"):          at("real"),
		at("project/sub"):      at("real/sub"),
		at("real/in"):          at("real/sub"),
		"in":                   at("real/sub"),
		at("real/sub/../../"):  "out",
		at("other"):            "out",
		at("realer"):           "out",
		at("project/out"):      "out",
		"out":                  "out",
		"up":                   "out",
		"..":                   "out",
		"/":                    "out",
		at("project/nothing"):  "none",
		at("project/sub/none"): "none",
	} {
		got := dir
		switch err := s.mayWorkIn(run, &got); want {
		case "out":
			if !errors.Is(err, thread.ErrNotGranted) {
				t.Errorf("%s: %v", dir, err)
			}
			if got = dir; s.mayWorkIn(start, &got) != nil || got == "" {
				t.Errorf("%s is refused to one that may start programs", dir)
			}
		case "none":
			if !errors.Is(err, thread.ErrNotFound) {
				t.Errorf("%s: %v", dir, err)
			}
		default:
			if err != nil || got != want {
				t.Errorf("%s: %s, %v", dir, got, err)
			}
		}
	}
}
