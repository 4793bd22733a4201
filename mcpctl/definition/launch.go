package definition

// Launch is how a server is started or reached, with every variable expanded. It may hold secrets: it is never stored
// or logged.
type Launch struct {
	Transport Transport

	// For stdio. Env has the declared entries KEY=VALUE only, not the minimal environment that every server gets.
	Command string
	Args    []string
	Env     []string
	Dir     string

	// For http and sse.
	URL     string
	Headers map[string]string
	Helper  string
	OAuth   OAuth
}
