package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

const (
	// settleTime is how long follow waits after an answer for the thread to show that it no longer works, so that the
	// next verb finds it so.
	settleTime = 5 * time.Second
	// returnTime is how long a server that went away has to come back, and returnPause lies between two looks.
	returnTime  = 15 * time.Second
	returnPause = 100 * time.Millisecond
)

// follower follows one prompt to its end, and prints what the model says in answer to it and to nothing else: the
// thread's stream tells in one order when the prompt is the agent's and what is said then.
type follower struct {
	*cli
	client *client.Client
	print  printer

	prompt thread.Prompt // as it was told last
	status thread.Status // of its thread
	waits  string        // why it was not typed when it was accepted
	turn   *thread.Checkpoint
	voice  voice

	late    <-chan time.Time // the limit is over
	settled <-chan time.Time // the wait for the thread to settle is over; nil before the answer
	ended   outcome          // set when there is nothing more to follow
	reason  string
}

// follower makes one.
func (c *cli) follower(cl *client.Client, t talk) *follower {
	f := &follower{cli: c, client: cl, print: newPrinter(c, t)}
	f.voice.print = f.print
	if t.limit > 0 {
		f.late = time.After(t.limit)
	}
	return f
}

// ask sends a prompt and follows it.
func (f *follower) ask(ctx context.Context, ref, text string) error {
	s, err := api.Status.Do(ctx, f.client, api.Ref{Thread: ref})
	if err != nil {
		return err
	}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Speech.Open(listening, f.client,
		api.Ref{Thread: string(s.ID)}) // before the prompt, so that nothing of it is missed
	if err != nil {
		return err
	}
	p, err := api.Ask.Do(ctx, f.client, api.AskRequest{Thread: string(s.ID), Text: text})
	if err != nil {
		return err
	}
	if p.Thread == s.ID {
		f.waits = p.Reason
		f.begin(s, thread.Prompt{ID: p.ID, Thread: p.Thread}) // the stream tells how far it got, in order
		return f.follow(ctx, events)
	}
	stop() // it was forked for this prompt
	fork, err := api.Status.Do(ctx, f.client, api.Ref{Thread: string(p.Thread)})
	if err != nil {
		return err
	}
	f.print.notice(fmt.Sprintf("this prompt leaves %s: it was forked as %s, which answers", s.Name, fork.Name))
	return f.followFresh(ctx, fork, p)
}

// followFirst follows the prompt that a new thread began with.
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

// followFresh follows the first prompt of a thread, which is the only one.
func (f *follower) followFresh(ctx context.Context, s thread.Status, p thread.Prompt) error {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Speech.Open(listening, f.client, api.Ref{Thread: string(s.ID)})
	if err != nil {
		return err
	}
	f.begin(s, p)
	if err := f.refresh(ctx); err != nil {
		return err
	}
	return f.follow(ctx, events)
}

// begin notes what is followed.
func (f *follower) begin(s thread.Status, p thread.Prompt) {
	f.status = s
	f.print.begin(s)
	if f.prompt = p; p.State != "" {
		f.prompt.State = ""
		f.asked(p)
	}
}

// refresh asks how the prompt and its thread are, where events of them may have been missed.
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

// follow takes events until the prompt's end, the limit's, or the server's.
func (f *follower) follow(ctx context.Context, events <-chan thread.Event) error {
	for !f.over() {
		select {
		case <-ctx.Done():
			return thread.Hint(fmt.Errorf("not followed any more: prompt %s of %s is %s", f.prompt.ID, f.status.Name,
				f.prompt.State), "the agent goes on")
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
	return f.end(ctx)
}

// take takes one event of the thread.
func (f *follower) take(ctx context.Context, e thread.Event) error {
	switch {
	case e.Speech != nil:
		f.voice.hear(*e.Speech)
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

// asked takes how far the prompt got.
func (f *follower) asked(p thread.Prompt) {
	if p.State == thread.PromptQueued && p.Reason == "" {
		p.Reason = f.waits // of one behind others no event tells
	}
	if p.State != f.prompt.State || p.Reason != f.prompt.Reason {
		f.print.prompt(p)
	}
	f.prompt = p
	switch p.State {
	case thread.PromptQueued:
		f.voice.mute()
	case thread.PromptTyping:
		f.voice.hold()
	case thread.PromptOpen:
		f.voice.speak()
	default: // it is over
	}
}

// over reports whether there is nothing more to follow, and notes how it ended.
func (f *follower) over() bool {
	state := f.status.State.State
	switch {
	case f.ended != "", f.prompt.State == "":
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
	case f.prompt.State == thread.PromptQueued && f.status.Execution == nil && !state.Live():
		f.ended, f.reason = isQueued, "its agent does not run"
	}
	return f.ended != ""
}

// giveUp ends the wait when the limit is over.
func (f *follower) giveUp() {
	switch f.prompt.State {
	case thread.PromptQueued, thread.PromptTyping:
		f.ended, f.reason = isQueued, f.prompt.Reason
	case thread.PromptAnswered:
		f.ended = isAnswered
	default:
		f.ended = isLate
	}
}

// reconnect follows the prompt on when the server has come back: prompts outlive it. One that a person ended is not
// started again for that.
func (f *follower) reconnect(ctx context.Context) (<-chan thread.Event, error) {
	f.print.notice("the server went away; waiting for it to come back")
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

// join joins the prompt's stream at a server that is there.
func (f *follower) join(ctx context.Context) (<-chan thread.Event, error) {
	cl, _, err := f.reach(ctx)
	if err != nil {
		return nil, err
	}
	events, err := api.Speech.Open(ctx, cl, api.Ref{Thread: string(f.prompt.Thread)})
	if err != nil {
		cl.Close()
		return nil, err
	}
	f.client = cl // closed with the process
	f.voice.restart()
	return events, f.refresh(ctx)
}

// end prints what is left to print and returns the exit code's error.
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
		if a.Reason == "" {
			a.Reason = "its agent is getting ready, or being typed to"
		}
	}
	var said []string
	if f.prompt.Answer != "" {
		said = f.answers(ctx, &a)
	}
	f.voice.finish(said)
	if a.Outcome == isAnswered && a.State == thread.StateWorking {
		a.State = thread.StateDone // it has settled, or its next prompt has begun
	}
	if err := f.print.end(a); err != nil {
		return err
	}
	code := a.exit()
	if text := a.words(); text != "" {
		fmt.Fprintf(f.stderr, "orchestrator: %s\n", text)
	}
	if code == exitOK {
		return nil
	}
	return &silentError{code: code}
}

// answers reads what the agent answered in the prompt's turn, whole.
func (f *follower) answers(ctx context.Context, a *answer) (said []string) {
	ref, at := string(f.prompt.Thread), f.prompt.Answer
	if f.turn == nil || f.turn.ID != at {
		f.turn = nil
		list, err := api.Timeline.Do(ctx, f.client,
			api.TimelineRequest{Thread: ref, Page: thread.Page{Turns: true, Limit: 20}})
		for i := range list {
			if err == nil && list[i].ID == at {
				f.turn = &list[i]
			}
		}
	}
	entries, err := api.Turn.Do(ctx, f.client, api.TurnRequest{Thread: ref, At: string(at)})
	for _, e := range entries {
		if e.Kind == thread.EntryAnswer {
			said = append(said, e.Text)
		}
	}
	if err != nil && f.turn != nil {
		said = []string{f.turn.Answer} // its beginning is better than nothing
	}
	a.Checkpoint = f.turn
	if len(said) > 0 {
		a.Answer = said[len(said)-1]
	}
	return said
}
