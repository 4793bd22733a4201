package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

const (
	// settleTime is how long to wait after an answer for the thread to stop working, so that the next verb finds it idle.
	settleTime = 5 * time.Second
	// returnTime is how long to wait for a server that went away, trying again every returnPause.
	returnTime  = 15 * time.Second
	returnPause = 100 * time.Millisecond
)

// follower follows one prompt to its end and prints the model's answer to it, and nothing else. The thread's stream
// has, in order, when the agent took the prompt and what the model said then.
type follower struct {
	cli    *cli
	client *client.Client
	print  printer

	prompt thread.Prompt // as last reported
	status thread.Status // of the prompt's thread
	waits  string        // why the prompt was not sent, as last reported
	turn   *thread.Checkpoint
	stream answerStream

	late    <-chan time.Time // fires at the timeout
	settled <-chan time.Time // fires when the thread had time to settle; nil before the answer
	ended   outcome          // set when done following
	reason  string
}

// follower returns a follower that prints in the chosen format.
func (c *cli) follower(cl *client.Client, t followOptions) *follower {
	f := &follower{cli: c, client: cl, print: newPrinter(c, t)}
	f.stream.print = f.print
	if t.limit > 0 {
		f.late = time.After(t.limit)
	}
	return f
}

// ask sends a prompt and follows it.
func (f *follower) ask(ctx context.Context, r api.AskRequest) error {
	s, err := api.Status.Do(ctx, f.client, api.Ref{Thread: r.Thread})
	if err != nil {
		return err
	}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Speech.Open(listening, f.client,
		api.Ref{Thread: string(s.ID)}) // before the prompt is sent, to miss nothing
	if err != nil {
		return err
	}
	r.Thread = string(s.ID)
	p, err := api.Ask.Do(ctx, f.client, r)
	if err != nil {
		return err
	}
	if p.Thread == s.ID {
		f.waits, f.stream.prompt = p.Reason, r.Text
		f.begin(s, thread.Prompt{ID: p.ID, Thread: p.Thread}) // the stream reports its state, in order
		return f.follow(ctx, events)
	}
	stop() // a fork took the prompt
	return f.followFork(ctx, s, p.Thread, p)
}

// followFork follows the first prompt of a thread's fork.
func (f *follower) followFork(ctx context.Context, of thread.Status, id thread.ID, p thread.Prompt) error {
	fork, err := api.Status.Do(ctx, f.client, api.Ref{Thread: string(id)})
	if err != nil {
		return err
	}
	f.print.notice(fmt.Sprintf("the prompt was sent to %s, a new fork of %s", fork.Name, of.Name))
	if p.ID == "" {
		return f.followFirst(ctx, fork)
	}
	return f.followFresh(ctx, fork, p)
}

// followFirst follows the first prompt of a new thread.
func (f *follower) followFirst(ctx context.Context, s thread.Status) error {
	list, err := api.Prompts.Do(ctx, f.client, api.PromptsRequest{Thread: string(s.ID)})
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.From == thread.FromFirst {
			return f.followFresh(ctx, s, p)
		}
	}
	return fmt.Errorf("first prompt of %s: %w", s.Name, thread.ErrNotFound)
}

// followFresh follows a thread's first and only prompt.
func (f *follower) followFresh(ctx context.Context, s thread.Status, p thread.Prompt) error {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Speech.Open(listening, f.client, api.Ref{Thread: string(s.ID)})
	if err != nil {
		return err
	}
	f.stream.prompt = p.Text
	f.begin(s, p)
	if err := f.refresh(ctx); err != nil {
		return err
	}
	return f.follow(ctx, events)
}

// begin sets the prompt to follow.
func (f *follower) begin(s thread.Status, p thread.Prompt) {
	f.status = s
	f.print.begin(s)
	if f.prompt = p; p.State != "" {
		f.prompt.State = ""
		f.asked(p)
	}
}

// refresh asks for the state of the prompt and its thread, in case events were missed.
func (f *follower) refresh(ctx context.Context) error {
	p, err := api.Prompt.Do(ctx, f.client, api.PromptRef{Thread: string(f.prompt.Thread), ID: f.prompt.ID})
	if err != nil {
		return err
	}
	s, err := api.Status.Do(ctx, f.client, api.Ref{Thread: string(f.prompt.Thread)})
	if err != nil {
		return err
	}
	f.status = s
	f.asked(p)
	return nil
}

// follow handles events until the prompt is done, the time is up, or the server is gone.
func (f *follower) follow(ctx context.Context, events <-chan thread.Event) error {
	for !f.over() {
		select {
		case <-ctx.Done():
			return thread.Hint(fmt.Errorf("stopped following: prompt %s for %s is %s", f.prompt.ID, f.status.Name,
				f.prompt.State), "the agent keeps running")
		case <-f.settled:
			f.ended = isAnswered
		case <-f.late:
			f.giveUp()
		case e, ok := <-events:
			if ok {
				if err := f.take(ctx, e); err != nil {
					return err
				}
				continue
			}
			again, err := f.reconnect(ctx)
			if err != nil {
				return err
			}
			events = again
		}
	}
	if f.ended == isMoved {
		of := f.status
		f.stream = answerStream{print: f.print}
		f.prompt, f.turn, f.settled, f.ended, f.reason = thread.Prompt{Fork: f.prompt.Fork}, nil, nil, "", ""
		return f.followFork(ctx, of, f.prompt.Fork, thread.Prompt{})
	}
	return f.end(ctx)
}

// take handles one event of the thread.
func (f *follower) take(ctx context.Context, e thread.Event) error {
	switch {
	case e.Speech != nil:
		f.stream.add(*e.Speech)
		if e.Speech.Missed {
			return f.refresh(ctx)
		}
	case e.Prompt != nil && e.Prompt.ID == f.prompt.ID:
		f.asked(*e.Prompt)
	case e.Status != nil:
		if e.Status.State.State != f.status.State.State {
			f.print.state(e.Status.State.State)
		}
		f.status = *e.Status
	case e.Checkpoint != nil && e.Checkpoint.Kind == thread.KindTurn:
		f.turn = e.Checkpoint
	case e.Notice != nil && e.Notice.Level != thread.LevelInfo:
		f.print.notice(e.Notice.Text)
	case e.Kind == thread.EventRemoved:
		f.ended, f.reason = isGone, "the thread was deleted"
	}
	return nil
}

// asked handles a new state of the prompt.
func (f *follower) asked(p thread.Prompt) {
	if p.State == thread.PromptQueued {
		p.Reason = cmp.Or(p.Reason, f.waits) // no event reports the reason of a prompt behind others
		f.waits = p.Reason
	}
	if p.State != f.prompt.State || p.Reason != f.prompt.Reason {
		f.print.prompt(p)
	}
	f.prompt = p
	switch p.State {
	case thread.PromptQueued:
		f.stream.discard()
	case thread.PromptTyping:
		f.stream.hold()
	case thread.PromptOpen:
		f.stream.accept()
	default: // the prompt is done
	}
}

// over reports whether there is nothing more to follow, and records how it ended.
func (f *follower) over() bool {
	state := f.status.State.State
	switch {
	case f.ended != "", f.prompt.State == "":
	case f.prompt.State == thread.PromptMoved:
		if f.prompt.Fork == "" {
			return false // it is being made
		}
		f.ended = isMoved
	case f.prompt.State == thread.PromptAnswered:
		if state == thread.StateWorking || state == thread.StateStarting || state.Trouble() {
			if f.settled == nil {
				f.settled = time.After(settleTime)
			}
			return false
		}
		f.ended = isAnswered
	case f.prompt.State.Over():
		f.ended = outcome(f.prompt.State)
		f.reason = f.prompt.Reason
	case state.NeedsPerson():
		f.ended, f.reason = isWaiting, f.prompt.Reason
	case f.prompt.State == thread.PromptQueued && f.status.Execution == nil && !state.Live() && f.late == nil:
		f.ended, f.reason = isQueued, "its agent is not running"
	}
	return f.ended != ""
}

// giveUp stops waiting when the time is up.
func (f *follower) giveUp() {
	switch f.prompt.State {
	case thread.PromptQueued, thread.PromptTyping:
		f.ended, f.reason = isQueued, f.prompt.Reason
		if f.status.Execution == nil && !f.status.State.State.Live() {
			f.reason = "its agent is not running"
		}
	case thread.PromptAnswered:
		f.ended = isAnswered
	default:
		f.ended = isLate
	}
}

// reconnect continues following when the server is back: prompts survive its restart. It does not start a server that
// the user stopped.
func (f *follower) reconnect(ctx context.Context) (<-chan thread.Event, error) {
	f.print.notice("lost the connection to the server; waiting for it to come back")
	gone := time.After(returnTime)
	for {
		events, err := f.join(ctx)
		if err == nil {
			return events, nil
		}
		if errors.Is(err, thread.ErrNotFound) {
			f.ended, f.reason = isGone, err.Error()
			return nil, nil
		}
		select {
		case <-time.After(returnPause):
		case <-f.late:
			f.giveUp()
			return nil, nil
		case <-gone:
			f.ended = isGone
			f.reason = "the server went away while the prompt was " + string(f.prompt.State)
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join opens the prompt's stream on a running server.
func (f *follower) join(ctx context.Context) (<-chan thread.Event, error) {
	cl, _, err := f.cli.reach(ctx)
	if err != nil {
		return nil, err
	}
	events, err := api.Speech.Open(ctx, cl, api.Ref{Thread: string(f.prompt.Thread)})
	if err != nil {
		cl.Close()
		return nil, err
	}
	f.client = cl // closed when the process exits
	f.stream.restart()
	return events, f.refresh(ctx)
}

// end prints the rest and returns the error with the exit code.
func (f *follower) end(ctx context.Context) error {
	a := answer{
		Thread: f.status.Name, Prompt: f.prompt.ID, Outcome: f.ended, Reason: f.reason, State: f.status.State.State,
		Turn: f.prompt.Turn,
	}
	if a.Outcome == isQueued && f.status.Execution != nil {
		if p, err := api.Prompt.Do(ctx, f.client,
			api.PromptRef{Thread: string(f.prompt.Thread), ID: f.prompt.ID}); err == nil {
			a.Reason = p.Reason
		}
		a.Reason = cmp.Or(a.Reason, f.waits, "its agent is starting or busy with another prompt")
	}
	var said []string
	if f.prompt.Answer != "" {
		said = f.answers(ctx, &a)
	}
	f.stream.finish(said)
	if a.Outcome == isAnswered && a.State == thread.StateWorking {
		a.State = thread.StateDone // it has settled, or started on its next prompt
	}
	if err := f.print.end(a); err != nil {
		return err
	}
	code := a.exit()
	if text := a.words(); text != "" {
		fmt.Fprintf(f.cli.out.stderr, "orchestrator: %s\n", text)
	}
	if code == exitcode.OK {
		return nil
	}
	return &silentError{code: code}
}

// answers reads the agent's complete answers in the prompt's turn.
func (f *follower) answers(ctx context.Context, a *answer) (said []string) {
	ref, at := string(f.prompt.Thread), f.prompt.Answer
	if f.turn != nil && f.turn.ID != at {
		f.turn = nil
	}
	// The event of a turn does not have what its responses used: the timeline adds that up.
	list, err := api.Timeline.Do(ctx, f.client,
		api.TimelineRequest{Thread: ref, Page: thread.Page{Turns: true, Limit: 20}})
	for i := range list {
		if err == nil && list[i].ID == at {
			f.turn = &list[i]
		}
	}
	entries, err := api.Turn.Do(ctx, f.client, api.TurnRequest{Thread: ref, At: string(at)})
	for _, e := range entries {
		if e.Kind == thread.EntryAnswer {
			said = append(said, e.Text)
		}
	}
	if err != nil && f.turn != nil {
		said = []string{f.turn.Answer} // the start of it is better than nothing
	}
	a.Checkpoint = f.turn
	if len(said) > 0 {
		a.Answer = said[len(said)-1]
	}
	return said
}
