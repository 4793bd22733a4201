package thread

import "context"

// Headless is an agent whose program also works without a terminal: it takes one prompt on its standard input, prints
// lines, and ends. Optional for an Agent.
type Headless interface {
	// Headless prepares such a start as Launch does, for a new session or one to resume. Nothing in the launch contains the
	// prompt. What the program would ask of a person is refused, with a reason, unless the spec says AsksPerson and its
	// Dialogue is an Asker: then it waits for an answer.
	Headless(ctx context.Context, spec LaunchSpec) (HeadlessLaunch, error)
}

// HeadlessLaunch is how to start an agent's process without a terminal, and how to talk to it.
type HeadlessLaunch struct {
	Launch   Launch
	Dialogue Dialogue
	// Insists is set if the program asks a provider that has failed again by itself, and has no switch for that.
	Insists bool
}
