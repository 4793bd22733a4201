package said

import (
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
)

// Register adds the feature.
func Register(h *host.Host, cfg Config) *Feature {
	f := &Feature{h, cfg}
	h.Actions.OnThread(intent.CopyAnswer, f.answer)
	h.Actions.OnThread(intent.Transcript, f.transcript)
	return f
}
