package main

import (
	"fmt"
	"log/slog"
	"sync"

	"orchestrator/cmd/orchestrator/project"
)

// place knows whether the project is where the server found it.
type place struct {
	mu  sync.Mutex // guards why
	why string
}

func (p *place) problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// look looks at the project's folder; changed tells that this is news.
func (p *place) look(of project.Project) (why string, changed bool) {
	if err := of.Still(); err != nil {
		why = fmt.Sprintf("%v: `orchestrator stop` in its new place ends this server with its agents, which can be resumed there", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = why != p.why
	p.why = why
	return why, changed
}

// keepListening has clients find the server where its socket, or what it recorded of it, is gone. What is wrong is
// said when it is news.
func keepListening(l *project.Listener, log *slog.Logger, before error) error {
	moved, err := l.Keep()
	if moved != "" {
		log.Warn("the socket was gone, as when its folder goes with the last login: the server listens again", "socket",
			moved)
	}
	if err != nil && (before == nil || before.Error() != err.Error()) {
		log.Warn("clients of another environment may not find this server", "error", err)
	}
	return err
}
