package manager

import "orchestrator/thread"

// modelOf returns the model that a thread's agent is started with, "" for its own: that of the execution which is started,
// else what the thread's person chose. A tier that has lost its model since is no obstacle to a terminal.
func modelOf(l *run, t thread.Thread) string {
	if a := attemptOf(l); a != nil {
		if x := a.execution(); x.Model != "" || x.Tier != "" { // an older version stored neither
			return x.Model
		}
	}
	if !t.Once.On {
		return t.Model
	}
	c, err := l.cfg.Runs.Models.Choose(t.Agent, t.Model, t.Once.Tier)
	if err != nil {
		return t.Model
	}
	return c.Model
}

// chosenModel returns the model that a new thread keeps, of one that is named and a tier. One that runs without a terminal
// keeps only what is named: its executions take the tier's model as it is configured then.
func chosenModel(cfg *Config, agent, model string, o thread.Once) (string, error) {
	if o.Tier == "" && !o.On {
		return model, nil
	}
	c, err := cfg.Runs.Models.Choose(agent, model, o.Tier)
	if err != nil || o.On {
		return model, err
	}
	return c.Model, nil
}
