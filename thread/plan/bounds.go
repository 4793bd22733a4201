package plan

// The bounds of a plan, which comes from outside.
const (
	MaxAgents = 10_000 // and as many gates
	// MaxEdges is how many edges the agents of a plan have, together: each is stored. It is where a wave of 1000 reads all of
	// a wave of 1000.
	MaxEdges     = 1_000_000
	MaxWaves     = 10_000
	MaxName      = 64       // characters of a name
	MaxText      = 64 << 10 // bytes of a gate's text, a description
	MaxPrompt    = 1 << 20  // bytes of an agent's prompt
	MaxSchema    = 256 << 10
	MaxVariables = 100
	MaxPatterns  = 1000     // of one agent
	MaxDocument  = 64 << 20 // bytes of a plan's document, with all that it names
	// WideWave is how many agents of a wave at once a person is asked about.
	WideWave = 4
)
