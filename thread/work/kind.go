package work

// Kind tells what an execution is. The queue has runs only; the others are written down as they come.
type Kind string

// The kinds.
const (
	KindRun      Kind = ""         // a prompt of a thread that runs without a terminal
	KindTerminal Kind = "terminal" // a process of a thread's agent in its terminal
	KindNative   Kind = "native"   // a sub-agent that an agent's CLI started by itself
	KindHand     Kind = "hand"     // what a person or an agent wrote down of work that was done elsewhere
)

// Origin says who knows what an execution did.
type Origin string

// The origins.
const (
	OriginOurs   Origin = "ours"   // we started its process
	OriginNative Origin = "native" // an agent's CLI did, as seen in its requests, hooks and files
	OriginHand   Origin = "hand"   // somebody says so: all of it is a claim
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{KindRun, KindTerminal, KindNative, KindHand} }

// Origin returns who knows what an execution of a kind did.
func (k Kind) Origin() Origin {
	switch k {
	case KindNative:
		return OriginNative
	case KindHand:
		return OriginHand
	default:
		return OriginOurs
	}
}

// Joins reports whether an execution of a kind is let into its work session when it is added, which must be there and be
// open then. The others are there whether they are recorded or not: their work session is a fact of the process that they
// are, or belong to, however it stands by then.
func (k Kind) Joins() bool { return k == KindRun || k == KindHand }

// Prefix returns the beginning of the names that a store gives to executions of a kind: "exec" for "exec-001".
func (k Kind) Prefix() string {
	switch k {
	case KindTerminal:
		return "term"
	case KindNative:
		return "sub"
	default:
		return "exec"
	}
}
