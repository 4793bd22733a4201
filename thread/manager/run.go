package manager

// run is a thread's process with its folder: how it is started, resumed, rewound, stopped and removed.
type run struct {
	recorder
	forget func() // strikes it off the registry; core.mu is held
}
