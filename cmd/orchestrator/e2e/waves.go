package e2e

import (
	"encoding/json"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

// Task looks at a task of a plan, with what was handed over. It asks a server that runs without a process of its own, for tests look often; else the program
// starts one.
func (r *Rig) Task(task string) (v wave.View) {
	r.T.Helper()
	cl := client.NewBelow(r.Claimed().Dial, "")
	defer cl.Close()
	v, err := api.WaveStatus.Do(r.T.Context(), cl, wave.TaskRef{Task: task, Data: true})
	if err == nil {
		return v
	}
	res := r.Run("wave", "status", task, "--data", "--json") // its exit code says how the task stands
	if err := json.Unmarshal([]byte(res.Stdout), &v); err != nil {
		r.T.Fatalf("%v: exit %d: %s%s", err, res.Code, res.Stdout, res.Stderr)
	}
	return v
}
