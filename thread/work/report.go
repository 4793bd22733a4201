package work

// QueueReport is what waits, what runs, and what bounds it.
type QueueReport struct {
	// Waiting are the queued executions in the order in which they start, as far as that is known, each with its Reason.
	Waiting []Execution `json:"waiting"`
	// Active are those that hold a place.
	Active []Execution `json:"active"`
	// Limits are those of all agents together, as Agent "", and of each agent that has one, waits or runs.
	Limits []QueueLimit `json:"limits"`
}

// QueueLimit bounds how many executions run at the same time.
type QueueLimit struct {
	Agent   string `json:"agent,omitempty"`   // "" for all agents together
	Account string `json:"account,omitempty"` // as in Execution
	Most    int    `json:"most"`
	Running int    `json:"running"`
	Waiting int    `json:"waiting"`
	Paused  bool   `json:"paused,omitempty"` // nothing more of it is started
	Why     string `json:"why,omitempty"`    // where the bound comes from, for people
}

// QueueChange changes what bounds an agent's executions, or those of all agents if Agent is "".
type QueueChange struct {
	Agent  string `json:"agent,omitempty"`
	Pause  bool   `json:"pause,omitempty"`  // start nothing more of it
	Resume bool   `json:"resume,omitempty"` // start again
	// Limit is how many run at the same time from now on; 0 leaves that as it is.
	Limit int `json:"limit,omitempty"`
}
