package agenttest

import (
	"testing"

	"orchestrator/thread"
)

// World returns what surrounds an agent that is started in an empty folder with an environment.
func World(t *testing.T, a thread.Agent, env []string) thread.World {
	t.Helper()
	w, err := a.World(thread.WorldSpec{Dir: t.TempDir(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if (w.Aside == "") != (w.Upstreams != nil) {
		t.Errorf("%+v: it is sent through the gateway, or something says why not", w)
	}
	return w
}
