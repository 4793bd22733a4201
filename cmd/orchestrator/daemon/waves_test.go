package daemon

import (
	"context"
	"errors"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/plan"
	"orchestrator/thread/record"
	"orchestrator/thread/wave"
)

// TestMayBegin: an agent neither agrees for the person, nor begins what waits for one, nor has others go deeper than it may.
func TestMayBegin(t *testing.T) {
	with := func(grants ...thread.Grant) grant.Caller {
		return grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: grants}
	}
	spawns := func(n, depth int) wave.RunRequest {
		return wave.RunRequest{Plan: plan.Plan{Agents: []plan.Agent{{Name: "x"}, {Name: "y", Spawn: n, SpawnDepth: depth}}}}
	}
	for _, c := range []struct {
		what string
		c    grant.Caller
		q    wave.RunRequest
		may  bool
	}{
		{"a plan", with(grant.Run), spawns(0, 0), true},
		{"agree", with(grant.Run), wave.RunRequest{Agreed: true}, false},
		{"agree, with start", with(grant.Start), wave.RunRequest{Agreed: true}, false},
		{"begin what waits", with(grant.Run), wave.RunRequest{Task: "task-001"}, false},
		{"begin what waits, with start", with(grant.Start), wave.RunRequest{Task: "task-001"}, true},
		{"spawn, one deep", with(grant.Run), spawns(2, 0), false},
		{"spawn, two deep", with("run:2"), spawns(2, 0), true},
		{"spawn, three deep", with("run:2"), spawns(2, 2), false},
		{"spawn, with start", with(grant.Start), spawns(2, 2), true},
	} {
		if err := mayBegin(c.c, c.q); (err == nil) != c.may || err != nil && !errors.Is(err, thread.ErrNotGranted) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestStartTaskIsAsked: beginning a task that waits is no way for an agent to run a plan that it may not run.
func TestStartTaskIsAsked(t *testing.T) {
	c := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: []thread.Grant{grant.Start}}
	q := wave.RunRequest{Task: "task-001", Agreed: true, Plan: plan.Plan{Agents: []plan.Agent{{Name: "x"}}}}
	if _, err := (&Server{}).startTask(context.WithValue(t.Context(), callerKey{}, c), record.Author{}, q); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("an agent agrees for the person: %v", err)
	}
}

// TestRetryWaveIsAsked: that what is done becomes stale, an agent does not agree to.
func TestRetryWaveIsAsked(t *testing.T) {
	q := wave.RetryRequest{Task: "task-001", Agent: "x", Agreed: true}
	if _, err := (&Server{}).retryWave(t.Context(), record.Author{Agent: true, Thread: "a"}, q); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("an agent agrees for the person: %v", err)
	}
}
