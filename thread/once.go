package thread

import "time"

// Once is set for a thread whose agent runs without a terminal: each prompt starts a process that ends with the answer.
// The zero value means that it runs in a terminal. The person may take such a thread over in a terminal at any time; it
// stays one that runs without.
type Once struct {
	On bool `json:"on,omitempty"`
	// ReadOnly has the agent's own switch refuse to change files, and the folder watched.
	ReadOnly bool          `json:"readOnly,omitempty"`
	Priority int           `json:"priority,omitempty"` // larger ones start first; 0 is usual
	Deadline time.Duration `json:"deadline,omitempty"` // of each run; 0 is what is configured
	// Lost and Dispose are a work.Policy and a work.Disposal, "" for what is configured.
	Lost    string `json:"lost,omitempty"`
	Dispose string `json:"dispose,omitempty"`
	// From is the thread's folder while a run that must only read works in a place with a copy of it: Dir is that place.
	From string `json:"from,omitempty"`
}
