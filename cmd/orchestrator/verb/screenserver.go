package verb

import (
	"context"
	"fmt"
	"io"
	"sync"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
)

// screenServer implements ui.Server with the calls of the API.
type screenServer struct {
	client *client.Client
	// events and list have the first answers, for whoever asks first.
	events chan func() (<-chan thread.Event, error)
	list   chan func() ([]thread.Status, error)
}

// openScreenServer asks for what every screen asks for first, while the screen is being set up: the events from now on,
// until ctx ends, and then the threads.
func openScreenServer(ctx context.Context, cl *client.Client) screenServer {
	s := screenServer{cl, make(chan func() (<-chan thread.Event, error), 1), make(chan func() ([]thread.Status, error), 1)}
	events := ahead(func() (<-chan thread.Event, error) { return api.Events.Open(ctx, cl, api.None{}) })
	s.events <- events
	s.list <- ahead(func() ([]thread.Status, error) {
		if _, err := events(); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, host.Quick)
		defer cancel()
		return api.List.Do(ctx, cl, api.None{})
	})
	return s
}

// ahead runs a function and returns one that waits for its result.
func ahead[T any](f func() (T, error)) func() (T, error) {
	once := sync.OnceValues(f)
	go func() { _, _ = once() }()
	return once
}

// List implements ui.Server.
func (s screenServer) List(ctx context.Context) ([]thread.Status, error) {
	select {
	case first := <-s.list:
		return first()
	default:
		return api.List.Do(ctx, s.client, api.None{})
	}
}

// Events implements ui.Server.
func (s screenServer) Events(ctx context.Context) (<-chan thread.Event, error) {
	select {
	case first := <-s.events:
		return first()
	default:
		return api.Events.Open(ctx, s.client, api.None{})
	}
}

// Why implements ui.Server.
func (s screenServer) Why(ctx context.Context, ref string) (thread.StateReport, error) {
	return api.Why.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Seen implements ui.Server.
func (s screenServer) Seen(ctx context.Context, ref string) error {
	return api.Seen.Do(ctx, s.client, api.Ref{Thread: ref})
}

// New implements ui.Server.
func (s screenServer) New(ctx context.Context, r thread.NewRequest) (thread.Status, error) {
	return api.New.Do(ctx, s.client, r)
}

// Fork implements ui.Server.
func (s screenServer) Fork(ctx context.Context, r thread.ForkRequest) (thread.Status, error) {
	return api.Fork.Do(ctx, s.client, r)
}

// Resume implements ui.Server.
func (s screenServer) Resume(ctx context.Context, ref string, r thread.ResumeRequest) (thread.Status, error) {
	return api.Resume.Do(ctx, s.client, api.ResumeRequest{Thread: ref, Cols: r.Cols, Rows: r.Rows, HandOver: r.HandOver})
}

// ResumeAll implements ui.Server.
func (s screenServer) ResumeAll(ctx context.Context, cols, rows int) ([]thread.Status, error) {
	return api.ResumeAll.Do(ctx, s.client, api.ResumeRequest{Cols: cols, Rows: rows})
}

// StopAgent implements ui.Server.
func (s screenServer) StopAgent(ctx context.Context, ref string) error {
	return api.StopAgent.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Ask implements ui.Server.
func (s screenServer) Ask(ctx context.Context, ref string, r thread.AskRequest) (thread.Prompt, error) {
	return api.Ask.Do(ctx, s.client, api.AskRequest{Thread: ref, Text: r.Text, Lines: r.Lines})
}

// Prompts implements ui.Server.
func (s screenServer) Prompts(ctx context.Context, ref string, open bool) ([]thread.Prompt, error) {
	return api.Prompts.Do(ctx, s.client, api.PromptsRequest{Thread: ref, Open: open})
}

// EditPrompt implements ui.Server.
func (s screenServer) EditPrompt(ctx context.Context, id thread.PromptID, text string) (thread.Prompt, error) {
	return api.EditPrompt.Do(ctx, s.client, api.EditRequest{ID: id, Text: text})
}

// CancelPrompt implements ui.Server.
func (s screenServer) CancelPrompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return api.CancelPrompt.Do(ctx, s.client, api.PromptRef{ID: id})
}

// AskAgain implements ui.Server.
func (s screenServer) AskAgain(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return api.AskAgain.Do(ctx, s.client, api.PromptRef{ID: id})
}

// AnswerOffer implements ui.Server.
func (s screenServer) AnswerOffer(ctx context.Context, offerID, what string) (thread.Status, error) {
	return api.AnswerOffer.Do(ctx, s.client, api.OfferAnswer{Offer: offerID, Answer: what})
}

// SetOffers implements ui.Server.
func (s screenServer) SetOffers(ctx context.Context, mode thread.OfferMode) error {
	return api.SetOffers.Do(ctx, s.client, api.OffersRequest{Mode: mode})
}

// Rename implements ui.Server.
func (s screenServer) Rename(ctx context.Context, ref, name string) (thread.Status, error) {
	return api.Rename.Do(ctx, s.client, api.RenameRequest{Thread: ref, Name: name})
}

// Pin implements ui.Server.
func (s screenServer) Pin(ctx context.Context, ref string, on bool) error {
	return api.Pin.Do(ctx, s.client, api.PinRequest{Thread: ref, On: on})
}

// Archive implements ui.Server.
func (s screenServer) Archive(ctx context.Context, ref string) error {
	return api.Archive.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Unarchive implements ui.Server.
func (s screenServer) Unarchive(ctx context.Context, ref string) error {
	return api.Unarchive.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Abandon implements ui.Server.
func (s screenServer) Abandon(ctx context.Context, ref, reason string) error {
	return api.Abandon.Do(ctx, s.client, api.AbandonRequest{Thread: ref, Reason: reason})
}

// Grant implements ui.Server.
func (s screenServer) Grant(ctx context.Context, ref string, add, remove []thread.Grant) error {
	_, err := api.SetGrants.Do(ctx, s.client, api.GrantsRequest{Thread: ref, Add: add, Remove: remove})
	return err
}

// Delete implements ui.Server.
func (s screenServer) Delete(ctx context.Context, ref string) error {
	return api.Delete.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Undelete implements ui.Server.
func (s screenServer) Undelete(ctx context.Context, ref string) error {
	return api.Undelete.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Timeline implements ui.Server.
func (s screenServer) Timeline(ctx context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error) {
	return api.Timeline.Do(ctx, s.client, api.TimelineRequest{Thread: ref, Page: p})
}

// Turn implements ui.Server.
func (s screenServer) Turn(ctx context.Context, ref, at string) ([]thread.Entry, error) {
	return api.Turn.Do(ctx, s.client, api.TurnRequest{Thread: ref, At: at})
}

// Diff implements ui.Server.
func (s screenServer) Diff(ctx context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	return api.Diff.Do(ctx, s.client, r)
}

// Context implements ui.Server.
func (s screenServer) Context(ctx context.Context, ref string) (thread.ContextReport, error) {
	return api.Context.Do(ctx, s.client, api.Ref{Thread: ref})
}

// ChangeContext implements ui.Server.
func (s screenServer) ChangeContext(ctx context.Context, r thread.ContextChange) (thread.ContextReport, error) {
	return api.ChangeContext.Do(ctx, s.client, r)
}

// Retrieve implements ui.Server.
func (s screenServer) Retrieve(ctx context.Context, token string, most int64) ([]byte, error) {
	data, err := api.Retrieve.Open(ctx, s.client, api.RetrieveRequest{Token: token})
	if err != nil {
		return nil, err
	}
	defer data.Close()
	got, err := io.ReadAll(io.LimitReader(data, most))
	if err != nil {
		return nil, fmt.Errorf("retrieve %s: %w", token, err)
	}
	return got, nil
}

// Rewind implements ui.Server.
func (s screenServer) Rewind(ctx context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	return api.Rewind.Do(ctx, s.client, r)
}

// Find implements ui.Server.
func (s screenServer) Find(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	return api.Find.Do(ctx, s.client, api.FindRequest{Query: query, Limit: limit})
}

// Merge implements ui.Server.
func (s screenServer) Merge(ctx context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	return api.Merge.Do(ctx, s.client, r)
}

// MergeContinue implements ui.Server.
func (s screenServer) MergeContinue(ctx context.Context, ref string) (thread.MergeReport, error) {
	return api.MergeContinue.Do(ctx, s.client, api.Ref{Thread: ref})
}

// MergeAbort implements ui.Server.
func (s screenServer) MergeAbort(ctx context.Context, ref string) error {
	return api.MergeAbort.Do(ctx, s.client, api.Ref{Thread: ref})
}

// Push implements ui.Server.
func (s screenServer) Push(ctx context.Context, r thread.PushRequest) (thread.PushReport, error) {
	return api.Push.Do(ctx, s.client, r)
}

// Export implements ui.Server.
func (s screenServer) Export(ctx context.Context, r thread.TransferRequest) (thread.Status, error) {
	done, err := api.Export.Do(ctx, s.client, r)
	return done.Status, err
}

// Import implements ui.Server.
func (s screenServer) Import(ctx context.Context, r thread.TransferRequest) (thread.Status, error) {
	done, err := api.Import.Do(ctx, s.client, r)
	return done.Status, err
}

// Collect implements ui.Server.
func (s screenServer) Collect(ctx context.Context, r thread.CollectRequest) (thread.Collected, error) {
	return api.Collect.Do(ctx, s.client, r)
}

// Agents implements ui.Server.
func (s screenServer) Agents(ctx context.Context) ([]thread.AgentInfo, error) {
	return api.Agents.Do(ctx, s.client, api.None{})
}

// MCP implements ui.Server.
func (s screenServer) MCP(ctx context.Context, q thread.MCPQuery) (thread.MCPReport, error) {
	return api.MCP.Do(ctx, s.client, q)
}

// MCPDetail implements ui.Server.
func (s screenServer) MCPDetail(ctx context.Context, q thread.MCPAct) (thread.MCPDetail, error) {
	return api.MCPDetail.Do(ctx, s.client, q)
}

// SwitchMCP implements ui.Server.
func (s screenServer) SwitchMCP(ctx context.Context, c thread.MCPChange) (thread.MCPReport, error) {
	return api.SwitchMCP.Do(ctx, s.client, c)
}

// ActMCP implements ui.Server.
func (s screenServer) ActMCP(ctx context.Context, a thread.MCPAct) (thread.MCPDetail, error) {
	return api.ActMCP.Do(ctx, s.client, a)
}
