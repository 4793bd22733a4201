package thread

// World is what surrounds an agent in a folder, as the agent itself reads it: from its arguments, from files of the
// organisation, the project and the person, and from the environment, in its own order.
type World struct {
	// Upstreams are the addresses that the agent would send model requests to, by name; "" is the main one. Nil if its
	// requests cannot go through a gateway; Aside says why.
	Upstreams map[string]string
	Aside     string
	// Windows are the context windows that it is configured with: tokens by model, or by a pattern as in path.Match. Nil
	// if there are none.
	Windows map[string]int64
	// Network is how its requests would leave this machine.
	Network Network
}

// WorldSpec describes where an agent runs.
type WorldSpec struct {
	Dir string
	// Origin is the person's folder that Dir is a copy of, as in LaunchSpec.
	Origin string
	Env    []string
	Flags  Flags
	Model  string // that it is started with, "" for its own choice
	// Once is set if it works without a terminal, where it may read less of the repository.
	Once bool
	// Closed is set if it will not read the repository's own configuration, because servers in it are not accepted; see
	// MCPLaunch.Distrust.
	Closed bool
}

// Network is how requests leave this machine: through which proxies, and whom they trust.
type Network struct {
	HTTP, HTTPS string // the proxies for such addresses, "" for none
	NoProxy     string // what is reached without them, as in the variable of that name
	// Roots are files with certificates that are trusted in addition to the system's, RootDirs folders with such files.
	Roots, RootDirs []string
	// Certificate and Key are files by which we identify ourselves, "" without.
	Certificate, Key string
}
