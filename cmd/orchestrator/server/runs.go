package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"orchestrator/checkpoint/witness"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/manager"
	"orchestrator/thread/manager/runs"
	"orchestrator/thread/work"
)

// workFile is the file of executions beside that of a store of our own.
const workFile = "work.db"

// openWork opens the store of executions. The server starts also if that fails: without runs and without the record of
// work, and says why. Nothing of the file is changed then.
func (a *Server) openWork(ctx context.Context) error {
	if a.store.Work != nil {
		a.useWork(a.store.Work)
		return nil
	}
	s, err := workdb.Open(ctx, filepath.Join(a.Project.StateDir(), workFile), workdb.Options{
		Damaged: func(err error) {
			a.Log.Error("the store of executions is damaged", "err", err)
			a.found.add(thread.LevelError, fmt.Sprintf("the store of executions is damaged: %v. Restart the server to rescue them", err))
		},
	})
	if err != nil && ctx.Err() == nil {
		a.Log.Error("open the executions", "err", err)
		a.found.add(thread.LevelError, fmt.Sprintf("%v: %v. Threads are not affected; runs wait until it can be", work.ErrNoRecord, err))
		a.kept = work.Refusing(thread.Hint(err, "mend that and restart the server"))
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the executions: %w", err)
	}
	a.onClose(s.Close)
	if r := s.Report(); r != "" {
		a.found.add(thread.LevelWarn, r)
	}
	a.useWork(s)
	return nil
}

// useWork takes over the store of executions.
func (a *Server) useWork(s work.Record) {
	a.executions = s
	if k, whole := s.(work.Keeper); whole {
		a.kept = k
		return
	}
	a.kept = work.Refusing(thread.Kindf(thread.ErrUnsupported, "this store does not take its record along"))
}

// watched returns the store of executions with clients told of each write, whoever writes.
func (a *Server) watched(s work.Record) work.Record {
	return work.Watched(s, func(t work.Touched) {
		if a.manager != nil { // nothing is written before
			a.manager.Executions.Touched(t)
		}
	})
}

// runsConfig is how agents work without a terminal.
func (a *Server) runsConfig() manager.RunsConfig {
	c := a.Config.Runs
	a.settler = newSettler(a.Log)
	a.parts = &parts{settle: a.settler.put}
	r := manager.RunsConfig{
		OnFail: work.OnFail(c.OnFail), Tries: c.Retries, Fallbacks: c.Fallback,
		Deadline: c.Deadline, Lost: work.Policy(c.Lost), Dispose: dispose(c), Asks: thread.Asks(c.Asks),
		Limits: work.Limits{All: c.Parallel, Agents: c.Agents, Accounts: c.Accounts}, Why: "runs.parallel", Stage: a.stageOutput,
		Models: c.Tiers, Caps: c.Caps, Ended: a.parts.ended, Parted: a.parts.stands, Reported: a.parts.heard,
	}
	if a.executions != nil {
		r.Store = a.watched(a.executions)
	}
	r.Host, r.User = a.recordedAt()
	if r.Limits.All == 0 {
		r.Limits.All, r.Why = runs.DefaultParallel(runtime.NumCPU(), memory())
	}
	return r
}

// openWitness opens what gives read-only runs their places. Those that a killed server left are removed in the background.
func (a *Server) openWitness(files *keptFiles) work.Witness {
	w := witness.New(files, files.Finder, filepath.Join(a.Project.StateDir(), "witness"), func(err error) { a.Log.Warn("the place of read-only runs", "err", err) })
	a.onClose(w.Close)
	a.service(func(ctx context.Context) error {
		n, err := w.Repair(ctx)
		if err != nil && ctx.Err() == nil {
			a.Log.Warn("the places of read-only runs", "err", err)
		}
		if n > 0 {
			a.Log.Info("removed places of read-only runs that a killed server left", "places", n)
		}
		return nil
	})
	return w
}

// stageOutput keeps what a run prints.
func (a *Server) stageOutput(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Token, error) {
	d, err := a.staging.Stage(ctx, r, data)
	return d.Token, err
}

// memory is how much memory the machine has, 0 if that is not known.
func memory() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, err := strconv.ParseInt(cmp.Or(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), "0"), 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}
