package grant

import "orchestrator/thread"

// The grants.
const (
	Read   thread.Grant = "read"   // read other threads: state, turns, files, events
	Send   thread.Grant = "send"   // send prompts to threads
	Start  thread.Grant = "start"  // start threads, forks and stopped agents: programs outside of its sandbox
	Merge  thread.Grant = "merge"  // merge, push and restore: branches and files
	Manage thread.Grant = "manage" // rename, pin, archive, delete threads and stop agents
	Switch thread.Grant = "switch" // change what the person's screens show
	// Run starts runs: agents without a terminal, with nothing but a prompt and the agent's own settings; see Bounds. Like
	// Start it has programs work outside of the caller's sandbox. It carries how deep they may go; see Deep.
	Run thread.Grant = "run"
)

// The requirements that are not grants.
const (
	free   thread.Grant = ""       // no grant needed
	person thread.Grant = "person" // no grant is enough
)

// All lists the grants with what each allows, for people.
func All() []Meaning {
	return []Meaning{
		{Read, "see the other threads"},
		{Send, "send prompts to threads"},
		{Start, "start threads, forks and stopped agents"},
		{Run, "start runs, outside of its own sandbox"},
		{Merge, "merge, push, and restore turns"},
		{Manage, "rename, pin, archive, delete and stop threads"},
		{Switch, "change what your screens show"},
	}
}

// Meaning is a grant with its description.
type Meaning struct {
	Grant thread.Grant `json:"grant"`
	May   string       `json:"may"`
}

// Names lists the grants.
func Names() []thread.Grant {
	var all []thread.Grant
	for _, m := range All() {
		all = append(all, m.Grant)
	}
	return all
}
