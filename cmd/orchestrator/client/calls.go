package client

import (
	"context"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
	"orchestrator/thread/ledger"
)

// Info says who serves.
func (c *Client) Info(ctx context.Context) (api.Info, error) {
	return answer[api.Info](ctx, c, "info", api.AskInfo{})
}

// Sizes says what is stored and what it takes, for people.
func (c *Client) Sizes(ctx context.Context) ([]string, error) {
	i, err := answer[api.Info](ctx, c, "info", api.AskInfo{Sizes: true})
	return i.Sizes, err
}

// Account says what was spent lately, and what providers said of their limits.
func (c *Client) Account(ctx context.Context) (ledger.Account, error) {
	i, err := answer[api.Info](ctx, c, "info", api.AskInfo{Sizes: true})
	if err != nil || i.Account == nil {
		return ledger.Account{}, err
	}
	return *i.Account, nil
}

// Stop ends all agents, and then the server. It is refused while answers cannot be saved, unless force is set.
func (c *Client) Stop(ctx context.Context, force bool) (api.StopReport, error) {
	return answer[api.StopReport](ctx, c, "stop", api.StopRequest{Force: force})
}

// List returns all threads but the deleted ones.
func (c *Client) List(ctx context.Context) ([]thread.Status, error) {
	return answer[[]thread.Status](ctx, c, "list", struct{}{})
}

// Status returns the thread that a name means.
func (c *Client) Status(ctx context.Context, ref string) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "status", api.Ref{Thread: ref})
}

// New starts a new thread.
func (c *Client) New(ctx context.Context, r thread.NewRequest) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "new", r)
}

// Fork makes a thread at a point of another.
func (c *Client) Fork(ctx context.Context, r thread.ForkRequest) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "fork", r)
}

// Resume starts a thread's agent again where it was.
func (c *Client) Resume(ctx context.Context, ref string, cols, rows int) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "resume", api.Ref{Thread: ref, Cols: cols, Rows: rows})
}

// ResumeAll does so for all interrupted ones.
func (c *Client) ResumeAll(ctx context.Context, cols, rows int) ([]thread.Status, error) {
	return answer[[]thread.Status](ctx, c, "resumeall", api.Ref{Cols: cols, Rows: rows})
}

// SetUp runs the setup of a thread's worktree again.
func (c *Client) SetUp(ctx context.Context, ref string) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "setup", api.Ref{Thread: ref})
}

// StopAgent ends a thread's agent; the thread stays.
func (c *Client) StopAgent(ctx context.Context, ref string) error {
	return c.ask(ctx, "stopagent", api.Ref{Thread: ref}, nil)
}

// Ask has a prompt typed into a thread's agent when that waits for one. It is durable when Ask returns.
func (c *Client) Ask(ctx context.Context, ref, text string) (thread.Prompt, error) {
	return answer[thread.Prompt](ctx, c, "ask", api.Ask{Thread: ref, Text: text})
}

// Prompts returns the newest prompts of a thread, of all threads where ref is empty, oldest first; open leaves out
// those that are over.
func (c *Client) Prompts(ctx context.Context, ref string, open bool) ([]thread.Prompt, error) {
	return c.NewestPrompts(ctx, ref, open, 0)
}

// NewestPrompts is Prompts with a limit of its own; 0 is the server's.
func (c *Client) NewestPrompts(ctx context.Context, ref string, open bool, limit int) ([]thread.Prompt, error) {
	return answer[[]thread.Prompt](ctx, c, "prompts", api.Prompts{Thread: ref, Open: open, Limit: limit})
}

// Prompt returns one prompt of a thread as it is now.
func (c *Client) Prompt(ctx context.Context, ref string, id thread.PromptID) (thread.Prompt, error) {
	return answer[thread.Prompt](ctx, c, "prompt", api.Prompt{Thread: ref, ID: id})
}

// EditPrompt changes the text of a prompt that is queued.
func (c *Client) EditPrompt(ctx context.Context, id thread.PromptID, text string) (thread.Prompt, error) {
	return answer[thread.Prompt](ctx, c, "prompt-edit", api.Prompt{ID: id, Text: text})
}

// CancelPrompt withdraws a prompt that is queued.
func (c *Client) CancelPrompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return answer[thread.Prompt](ctx, c, "prompt-cancel", api.Prompt{ID: id})
}

// AskAgain sends a prompt again that was interrupted or refused.
func (c *Client) AskAgain(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return answer[thread.Prompt](ctx, c, "prompt-again", api.Prompt{ID: id})
}

// Switch makes a thread the one that clients show.
func (c *Client) Switch(ctx context.Context, ref string) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "switch", api.Ref{Thread: ref})
}

// Seen tells that a person has looked at a thread.
func (c *Client) Seen(ctx context.Context, ref string) error {
	return c.ask(ctx, "seen", api.Ref{Thread: ref}, nil)
}

// Rename gives a thread another name.
func (c *Client) Rename(ctx context.Context, ref, name string) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "rename", api.Ref{Thread: ref, Name: name})
}

// Pin keeps a thread on top, and from being collected.
func (c *Client) Pin(ctx context.Context, ref string, on bool) error {
	return c.ask(ctx, "pin", api.Ref{Thread: ref, On: on}, nil)
}

// Archive puts a thread away; its agent is stopped.
func (c *Client) Archive(ctx context.Context, ref string) error {
	return c.ask(ctx, "archive", api.Ref{Thread: ref}, nil)
}

// Unarchive brings it back.
func (c *Client) Unarchive(ctx context.Context, ref string) error {
	return c.ask(ctx, "unarchive", api.Ref{Thread: ref}, nil)
}

// Delete removes a thread; Undelete brings it back until it is purged.
func (c *Client) Delete(ctx context.Context, ref string) error {
	return c.ask(ctx, "delete", api.Ref{Thread: ref}, nil)
}

// Undelete brings a deleted thread back.
func (c *Client) Undelete(ctx context.Context, ref string) error {
	return c.ask(ctx, "undelete", api.Ref{Thread: ref}, nil)
}

// Abandon marks a thread's work as given up, with the reason.
func (c *Client) Abandon(ctx context.Context, ref, reason string) error {
	return c.ask(ctx, "abandon", api.Ref{Thread: ref, Text: reason}, nil)
}

// Why explains a thread's state.
func (c *Client) Why(ctx context.Context, ref string) (thread.StateReport, error) {
	return answer[thread.StateReport](ctx, c, "why", api.Ref{Thread: ref})
}

// May asks whether an operation would be allowed to this client; ref is the thread it concerns, if any.
func (c *Client) May(ctx context.Context, op, ref string) error {
	return c.ask(ctx, "may", api.May{Op: op, Thread: ref}, nil)
}

// Grants tells what a thread's agent may do.
func (c *Client) Grants(ctx context.Context, ref string) (api.Grants, error) {
	return answer[api.Grants](ctx, c, "grants", api.Ref{Thread: ref})
}

// SetGrants changes it.
func (c *Client) SetGrants(ctx context.Context, r api.SetGrants) (api.Grants, error) {
	return answer[api.Grants](ctx, c, "setgrants", r)
}

// Timeline returns a page of a thread's checkpoints, newest first.
func (c *Client) Timeline(ctx context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error) {
	return answer[[]thread.Checkpoint](ctx, c, "timeline", api.Timeline{Thread: ref, Page: p})
}

// Turn returns what was said in one turn.
func (c *Client) Turn(ctx context.Context, ref, at string) ([]thread.Entry, error) {
	return answer[[]thread.Entry](ctx, c, "turn", api.Ref{Thread: ref, At: at})
}

// Rewind sets a thread back.
func (c *Client) Rewind(ctx context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	return answer[thread.RewindReport](ctx, c, "rewind", r)
}

// Diff returns the files between two points.
func (c *Client) Diff(ctx context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	return answer[[]thread.FileDiff](ctx, c, "diff", r)
}

// Merge merges a thread's work.
func (c *Client) Merge(ctx context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	return answer[thread.MergeReport](ctx, c, "merge", r)
}

// MergeContinue goes on after conflicts were resolved.
func (c *Client) MergeContinue(ctx context.Context, ref string) (thread.MergeReport, error) {
	return answer[thread.MergeReport](ctx, c, "mergecontinue", api.Ref{Thread: ref})
}

// MergeAbort takes a merge with conflicts back.
func (c *Client) MergeAbort(ctx context.Context, ref string) error {
	return c.ask(ctx, "mergeabort", api.Ref{Thread: ref}, nil)
}

// Finish archives a merged thread and removes its worktree.
func (c *Client) Finish(ctx context.Context, ref string) (thread.MergeReport, error) {
	return answer[thread.MergeReport](ctx, c, "finish", api.Ref{Thread: ref})
}

// Push pushes a thread's branch.
func (c *Client) Push(ctx context.Context, r thread.PushRequest) (thread.PushReport, error) {
	return answer[thread.PushReport](ctx, c, "push", r)
}

// Find searches names, prompts and answers.
func (c *Client) Find(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	return answer[[]thread.Hit](ctx, c, "find", api.Find{Query: query, Limit: limit})
}

// AnswerOffer takes, dismisses or switches off a fork offer.
func (c *Client) AnswerOffer(ctx context.Context, offerID, what string) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "answeroffer", api.Ref{At: offerID, Text: what})
}

// SetOffers changes what becomes of fork offers, for good.
func (c *Client) SetOffers(ctx context.Context, mode thread.OfferMode) error {
	return c.ask(ctx, "setoffers", api.Ref{Text: string(mode)}, nil)
}

// Agents says which agents can be started here.
func (c *Client) Agents(ctx context.Context) ([]thread.AgentInfo, error) {
	return answer[[]thread.AgentInfo](ctx, c, "agents", struct{}{})
}

// MCP lists the MCP servers that are configured.
func (c *Client) MCP(ctx context.Context) ([]thread.MCPServer, error) {
	return answer[[]thread.MCPServer](ctx, c, "mcp", struct{}{})
}

// Collect lets go of what the retention settings need not keep.
func (c *Client) Collect(ctx context.Context, r thread.CollectRequest) (thread.Collected, error) {
	return answer[thread.Collected](ctx, c, "collect", r)
}

// Export writes a thread to a file.
func (c *Client) Export(ctx context.Context, r thread.PortRequest) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "export", r)
}

// Import takes a thread from a file.
func (c *Client) Import(ctx context.Context, r thread.PortRequest) (thread.Status, error) {
	return answer[thread.Status](ctx, c, "import", r)
}

// Backup writes all threads to a file.
func (c *Client) Backup(ctx context.Context, r thread.PortRequest) (thread.Kept, error) {
	return answer[thread.Kept](ctx, c, "backup", r)
}

// RestoreBackup takes the threads of a backup that are not here.
func (c *Client) RestoreBackup(ctx context.Context, r thread.PortRequest) (thread.Kept, error) {
	return answer[thread.Kept](ctx, c, "restorebackup", r)
}
