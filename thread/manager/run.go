package manager

// run is a thread's process with its folder: starting, resuming, rewinding, stopping and removing it.
type run struct {
	recorder
	forget func() // removes it from the registry; core.mu is held
}
