package process

import (
	"context"
	"strings"

	ground "orchestrator/thread/ground/process"
)

// markName is the environment variable that says which state folder's server a process belongs to, and to which start
// of one: "<id of the state>.<number>".
const markName = "ORCHESTRATOR_MCP_SERVER"

// marked returns an environment with a mark instead of any that it has.
func marked(env []string, mark string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, markName+"=") {
			out = append(out, kv)
		}
	}
	return append(out, markName+"="+mark)
}

// end kills all processes that are of some groups or sessions, or have a label or mark of ours, and returns how many
// there were.
func end(groups map[int]bool, label func(ground.Label) bool, mark func(entry string) bool) int {
	found, _ := ground.End(context.Background(), 0, ground.Kin(func(p ground.Info) bool {
		return groups[p.Group] || groups[p.Session] || label(ground.LabelOf(p.PID)) || ground.Marked(p.PID, mark)
	}))
	return found
}
