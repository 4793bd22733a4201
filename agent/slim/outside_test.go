package slim_test

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/slim"
	"orchestrator/thread"
)

func TestOutside(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	agenttest.Put(t, at("work/.git/HEAD"), "")
	agenttest.Put(t, at("work/sub/x"), "")
	agenttest.Put(t, at("work/dotfiles/settings.json"), "{}")
	agenttest.Put(t, at("home/.cli/settings.json"), "{}")
	if err := os.Symlink(at("work/dotfiles"), at("home/.linked")); err != nil {
		t.Fatal(err)
	}
	outside := slim.Outside(thread.WorldSpec{Dir: at("work/sub"), Origin: at("origin")})
	for name, want := range map[string]bool{
		"home/.cli/settings.json": true, "home/.cli/none.json": true, "workshop/settings.json": true,
		"work/settings.json": false, "work/sub/.cli/settings.json": false, "work": false, "origin/.cli/settings.json": false,
		"home/.linked/settings.json": false, "home/.linked/none.json": false,
	} {
		if got := outside(at(name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if !slim.Everywhere(at(name)) {
			t.Errorf("%s is not heard", name)
		}
	}
}
