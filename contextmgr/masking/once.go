package masking

import (
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// once has references sent in place of the files that pass for the first time, if the person wants that: what the model has
// answered before is never changed.
func (r *request) once(m *measurement) {
	if r.cfg.Once == nil || !r.cfg.Once() {
		return
	}
	c, answered := r.conversation, -1
	for i := range r.scan.Items {
		if r.scan.ByModel(i) {
			answered = i
		}
	}
	var batch []masks.New
	for _, rep := range m.repeats {
		text := Reference(rep.file.Path, rep.first)
		if rep.known || rep.item < answered || len(wire.Quote(text)) >= rep.End-rep.Start {
			continue
		}
		batch = append(batch, masks.New{
			Mask: masks.Mask{
				ID: rep.id, Tool: instructionsTool, Lines: lines(rep.file.Text), Tokens: rep.tokens, At: r.cfg.Now(),
				Reason: string(policy.ReasonRepeated), Request: m.number.last,
			},
			Content: []byte(rep.file.Text), Text: func(string, thread.Token) string { return text },
		})
	}
	if len(batch) == 0 {
		return
	}
	if err := c.masks.Add(batch); err != nil {
		r.cfg.Log.Error("store masks", "thread", string(c.id), "err", err)
		c.warn(r.outgoing, "unstored", "no more of this thread is masked until that can be stored: "+err.Error())
		return
	}
	for i := range m.repeats {
		rep := &m.repeats[i]
		if mask, ok := c.masks.Mask(rep.id); ok && !rep.known {
			r.refer(rep, mask)
			m.leaveOut(*rep, r.scan.Contents)
		}
	}
}
