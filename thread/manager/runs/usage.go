package runs

import (
	"fmt"

	"orchestrator/thread"
)

// Used returns what a thread has used since an execution's attempt began: what the gateway and the transcript told of it,
// which is counted once, with what was used beside the conversation but for its price, which the thread has. If they told nothing, it is what the agent itself reported, at a
// cost that is not known.
func Used(before, after, beside, reported thread.Usage) thread.Usage {
	u := thread.Usage{
		Input: after.Input - before.Input, CacheRead: after.CacheRead - before.CacheRead,
		CacheWrite: after.CacheWrite - before.CacheWrite, CacheWriteHour: after.CacheWriteHour - before.CacheWriteHour,
		Output: after.Output - before.Output, CostUSD: max(0, after.CostUSD-before.CostUSD), Priced: after.Priced,
		Unknown: max(0, after.Unknown-before.Unknown),
	}.Add(beside)
	if u.Context() <= 0 && u.CostUSD == 0 {
		reported.CostUSD, reported.Priced, reported.Unknown = 0, false, u.Unknown
		if reported.Context() > 0 {
			reported.Unknown++
		}
		return reported
	}
	return u
}

// tolerated is by how many percent what an agent counts may differ from what we count before that is told.
const tolerated = 5

// Differs compares what the gateway counted of an attempt, for the conversation and beside it, with what its agent reported,
// and says for people if they differ; "" if they agree, or if one of them is not known. Agents count requests beside the
// conversation or leave them out: both agree. The agent's figure is a check only, it is added to nothing.
func Differs(main, beside, reported thread.Usage) string {
	least, agent := main.Context(), reported.Context()
	most := least + beside.Context()
	if least <= 0 || agent <= 0 || agent*100 >= least*(100-tolerated) && agent*100 <= most*(100+tolerated) {
		return ""
	}
	return fmt.Sprintf("its agent counts %d tokens, the gateway %d: the gateway's figure is what counts", agent, most)
}
