package server

import (
	"cmp"
	"os"
	"os/user"

	"orchestrator/thread"
)

// recordedAt returns the host and the user that are written into rows of the record, "" for what is not known.
func (a *Server) recordedAt() (host, name string) {
	host, name = a.Config.Host, thread.Lookup(a.Env, "USER")
	if host == "" {
		host, _ = os.Hostname() // a name that is not known is no reason not to record
	}
	if u, err := user.Current(); err == nil {
		name = cmp.Or(u.Username, name)
	}
	return host, name
}
