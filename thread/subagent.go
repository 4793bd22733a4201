package thread

// SubAgent is a sub-agent that an agent's CLI has started by itself, as one of its requests names it. The zero value is
// none. All of it is the CLI's word, in any bytes.
type SubAgent struct {
	// Key is the CLI's own id of it. If it gives none, it stands for the beginning of its conversation, and Made is set.
	Key  string
	Made bool
	// Parent is the Key of the sub-agent that started it; "" for the agent itself, or if that is not known.
	Parent string
	// Type is what kind of agent it is, and Name how it is called, "" if the request does not tell.
	Type, Name string
	// First is set if the model has said nothing in its conversation yet.
	First bool
	// Told is set if it is no request that we saw, but what the CLI has written down of one.
	Told bool
}

// Delegation is what an agent hands to a sub-agent.
type Delegation struct {
	Type, Name string // as in SubAgent
	Prompt     string
}

// Delegator is an agent whose calls of tools tell of its sub-agents. Optional for an Agent.
type Delegator interface {
	// Delegates returns what a call hands to a sub-agent; ok is false if it starts none.
	Delegates(tool, args string) (d Delegation, ok bool)
	// Concludes returns the final message of a sub-agent that ends with a call; ok is false for any other call.
	Concludes(tool, args string) (said string, ok bool)
}

// SubReport is what a hook reports of a sub-agent.
type SubReport struct {
	Key, Type string // as in SubAgent
	Ended     bool   // it has ended; else it begins
	Said      string // its final message, if it has ended and the report has it
}
