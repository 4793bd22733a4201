package server

import (
	"context"
	"sync"

	"orchestrator/thread"
)

// detect looks for all agents, with the profiles of what each can leave out.
func (a *Server) detect(ctx context.Context) []thread.AgentInfo {
	infos := a.agents.Detect(ctx)
	var wg sync.WaitGroup
	for i := range infos {
		one, err := a.agents.Agent(infos[i].Name)
		slimmer, ok := one.(thread.Slimmer)
		if err != nil || !ok || !infos[i].Found {
			continue
		}
		wg.Go(func() {
			levers, err := slimmer.Levers(ctx, thread.WorldSpec{Dir: a.Project.Root, Env: plainEnv(a.Env)})
			if err != nil {
				a.Log.Warn("find out what an agent can leave out", "agent", infos[i].Name, "err", err)
				return
			}
			levers, _ = a.manager.Bases.Usable(ctx, levers)
			infos[i].Bases = a.Config.Base.Options(levers)
			infos[i].Base = a.Config.Base.Plan(thread.BaseWish{Agent: infos[i].Name}).Profile
		})
	}
	wg.Wait()
	return infos
}
