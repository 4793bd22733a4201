package mcpctl

// spot is where servers are started: in which folder, with the values of which environment.
type spot struct {
	dir string
	env []string // nil for that of our own process
	id  string   // tells environments apart
}

// key is that of a catalog.
func (s spot) key() string { return s.dir + "\x00" + s.id }
