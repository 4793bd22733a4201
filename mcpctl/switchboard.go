package mcpctl

import (
	"slices"

	"orchestrator/thread"
)

// switchboard is what is decided for one thread. What is in memory counts; it is stored at once for a person, and soon
// for what happens by itself.
type switchboard struct {
	t       thread.Thread // as it was when it was loaded: its agent and folder
	decided thread.MCPSwitches
	takes   bool // its agent takes servers
	// ending are servers that are switched off but stay on until the running turn ends.
	ending map[string]bool
	reach  thread.MCPReach
	runs   int // of its agent, to tell them apart
	// prompts are hashes of the newest ones, to see each once.
	prompts []uint64
	task    string          // the prompt of the running turn
	fresh   []*entry        // servers that it switched on and that were never started before
	used    map[string]bool // servers that were called in it
}

// chosen is a server that is on for a thread, and why.
type chosen struct {
	entry  *entry
	by     thread.MCPBy
	why    string
	ending bool
}

// chosenFor returns the servers that a thread has switched on, by ID. One that only reads has none: what a server's tools
// do, nobody knows. mu is held.
func (b *switchboard) chosenFor(cat *catalog) []chosen {
	if !b.takes || b.t.Once.ReadOnly {
		return nil
	}
	var all []chosen
	for _, e := range cat.entries {
		if on, ok := b.state(e); ok && e.accepted() {
			all = append(all, on)
		}
	}
	return all
}

// state returns how a server is switched, whether or not it can be used. mu is held.
func (b *switchboard) state(e *entry) (chosen, bool) {
	if w, ok := b.decided.Find(e.ID); ok {
		return chosen{entry: e, by: w.By, why: w.Why}, true
	}
	if b.ending[e.ID] {
		return chosen{entry: e, by: thread.MCPPerson, why: "off at the end of the turn", ending: true}, true
	}
	if !b.decided.Exact && !slices.Contains(b.decided.Off, e.ID) && e.isFor(b.t.Agent) {
		return chosen{entry: e, by: thread.MCPDefault}, true
	}
	return chosen{}, false
}

// connects notes that an agent reads what it is offered: it takes servers, which nobody could know before. It reports
// whether that is new. mu is held.
func (b *switchboard) connects() bool {
	if b.reach.Given || !b.reach.Offered {
		return false
	}
	b.takes, b.reach.Given, b.decided.Taken = true, true, true
	return true
}

// hides reports whether a tool is switched off.
func (b *switchboard) hides(server, tool string) bool {
	return slices.Contains(b.decided.Tools, server+"/"+tool)
}
