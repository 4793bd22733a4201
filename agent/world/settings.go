package world

import (
	"fmt"

	"orchestrator/agent/launch"
)

// Adding returns an environment with the variables of a settings file.
func Adding(env launch.Env, more map[string]any) launch.Env {
	for name, v := range more {
		if v != nil {
			env = env.With(name, fmt.Sprint(v))
		}
	}
	return env
}

// DirectValues returns the values of the variables by which Direct works, for agents whose settings outrank their
// environment.
func DirectValues(env launch.Env) map[string]string { return direct(env.Value) }
