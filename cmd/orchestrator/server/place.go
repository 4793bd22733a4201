package server

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"orchestrator/cmd/orchestrator/project"
)

// PlacePause is how often a server checks whether its project is still where it was.
const PlacePause = time.Second

// place tracks whether the project is still where the server found it.
type place struct {
	mu  sync.Mutex // guards why
	why string
}

func (p *place) problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// look checks the project's folder; changed is set if the result is new.
func (p *place) look(of project.Project) (why string, changed bool) {
	if err := of.Still(); err != nil {
		why = fmt.Sprintf("%v: `orchestrator stop` in its new location stops this server and its agents, "+
			"which can be resumed there", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = why != p.why
	p.why = why
	return why, changed
}

// keepListening makes sure that clients find the server even if its socket or the record of it was removed. It logs a
// problem once.
func keepListening(l *project.Listener, log *slog.Logger, before error) error {
	moved, err := l.Keep()
	if moved != "" {
		log.Warn("the socket was removed, perhaps at the end of the login session: listening again", "socket",
			moved)
	}
	if err != nil && (before == nil || before.Error() != err.Error()) {
		log.Warn("clients of another environment may not find this server", "error", err)
	}
	return err
}
