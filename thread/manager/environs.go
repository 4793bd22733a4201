package manager

import (
	"slices"
	"sync"

	"orchestrator/thread"
)

// environs has the environments that persons brought, by thread. They are in memory only, as they hold secrets.
type environs struct {
	server  []string // that of the server
	threads sync.Map
}

// brought is the environment of a person's client.
type brought struct {
	env []string
	use thread.EnvironUse
}

// bring has a thread's agents begin with the environment of the person who starts it, until another one is brought.
func (e *environs) bring(id thread.ID, env []string) {
	if env == nil {
		return
	}
	differs := thread.Differing(e.server, env)
	if len(differs) == 0 {
		e.threads.Delete(id)
		return
	}
	e.threads.Store(id, brought{env, thread.EnvironUse{Shell: true, Differs: differs}})
}

// use returns with which environment a thread's agents begin; nil for the server's.
func (e *environs) use(id thread.ID) *thread.EnvironUse {
	b, ok := e.threads.Load(id)
	if !ok {
		return nil
	}
	use := b.(brought).use
	return &use
}

// of returns the environment that was brought for a thread's agents, nil if there is none.
func (e *environs) of(id thread.ID) []string {
	if b, ok := e.threads.Load(id); ok {
		return b.(brought).env
	}
	return nil
}

// env is the environment that a thread's agent starts from.
func (e *environs) env(t thread.Thread) []string {
	if env := e.of(t.ID); env != nil {
		return slices.Concat(env, t.Launch.Env)
	}
	return slices.Concat(e.server, t.Launch.Env)
}
