package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
)

// placePause is how often a server looks whether its project is still where it was.
const placePause = time.Second

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
		log.Warn("the socket was gone, as when its folder goes with the last login: the server listens again", "socket", moved)
	}
	if err != nil && (before == nil || before.Error() != err.Error()) {
		log.Warn("clients of another environment may not find this server", "error", err)
	}
	return err
}

// watchPlace tells when the project was moved or removed under the server. Without agents the server ends then, so
// that the next verb starts one in the new place.
func (a *App) watchPlace(ctx context.Context) error {
	pause := time.NewTicker(placePause)
	defer pause.Stop()
	var kept error // what is wrong with the socket, said once
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.stop:
			return nil
		case <-pause.C:
		}
		kept = keepListening(a.listener, a.Log, kept)
		why, changed := a.place.look(a.Project)
		switch {
		case changed && why != "":
			a.Log.Error("the project is gone from its place", "why", why)
			a.manager.Notice("", thread.LevelError, why)
		case changed:
			a.Log.Info("the project is in its place again")
		}
		if why != "" && a.running() == 0 && !a.unsaved() {
			a.Log.Info("the server ends: its project is elsewhere and no agent runs")
			_, err := a.end(ctx, api.StopRequest{})
			return err
		}
	}
}
