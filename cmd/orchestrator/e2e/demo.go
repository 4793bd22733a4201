package e2e

import (
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread/api"
)

// Turn sends a prompt and waits for the answer.
func (r *Rig) Turn(name, prompt string) {
	r.T.Helper()
	r.Ok("send", name, prompt)
}

// Demo starts a demo thread that asks for nothing.
func (r *Rig) Demo(args ...string) string {
	r.T.Helper()
	return r.Ok(append([]string{"new", "-a", "demo", "--permission-mode", "auto"}, args...)...)
}

// ServerPID asks who serves.
func (r *Rig) ServerPID() int {
	r.T.Helper()
	p := r.Claimed()
	cl := client.NewBelow(p.Dial, "")
	defer cl.Close()
	info, err := api.Info.Do(r.T.Context(), cl, api.InfoRequest{})
	if err != nil {
		r.T.Fatal(err)
	}
	return info.PID
}
