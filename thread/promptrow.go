package thread

// PromptRow returns the row of a prompt that no turn answered in a timeline, after a turn.
func PromptRow(p Prompt, after int) Checkpoint {
	p = p.Brief()
	return Checkpoint{ID: CheckpointID(p.ID), Thread: p.Thread, Turn: after, Kind: KindPrompt, Created: p.Accepted,
		Prompt: p.Text, Note: p.Reason, Ended: p.State}
}
