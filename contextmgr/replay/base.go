package replay

// Base is a profile of what an agent leaves out of its base, which is what it sends before a word is said.
type Base struct {
	Name string
	// Saving returns what it saves in sessions of an agent; nil is for nothing.
	Saving func(agent string) Saving
}

// Saving is by how much a base is smaller: by tokens as we count them, or by a share of the base in percent.
type Saving struct {
	Tokens  int64
	Percent float64
}

// Definitions are how many tokens the definitions of MCP tools have, as we count them: of All that a person has, which an
// agent itself sends with every request, and of those that are On for the task.
type Definitions struct{ All, On int64 }

// Base returns how many tokens the agent sent before a word was said: the least with which a segment began, without what
// was said there. A session that was resumed may have had less.
func (s Session) Base() int64 {
	least := int64(-1)
	for _, seg := range s.Segments {
		if n := max(0, seg.Requests[0].Context-seg.said); least < 0 || n < least {
			least = n
		}
	}
	return max(0, least)
}
