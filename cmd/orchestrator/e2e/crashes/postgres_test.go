package crashes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestPostgresKilled kills PostgreSQL again and again while five threads write. Meanwhile people are told; after
// it is back all that was answered is stored once, and the threads go on.
func TestPostgresKilled(t *testing.T) {
	e2e.ManyStarts(t)
	var server pgtest.Server
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	r := e2e.NewRig(t)
	r.KeepIn(server.Database(t, "killed"))
	p := r.Claimed()
	r.Ok("threads")
	cl := client.New(p.Socket)
	defer cl.Close()
	begun(t, cl, 5)
	a := &acked{ids: map[thread.ID]map[thread.CheckpointID]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := api.Events.Open(ctx, cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	var following sync.WaitGroup
	following.Go(func() { a.follow(events) })

	talk, quiet := context.WithCancel(ctx)
	defer quiet()
	sent := make([][]string, 5)
	var talking sync.WaitGroup
	threads := e2e.List(t, cl)
	defer saysWhy(r, threads)
	for i, s := range threads {
		talking.Go(func() { sent[i] = converse(talk, cl, s.ID) })
	}
	for round := range e2e.FromEnv(t, "KILL_ROUNDS", 2) {
		before := make([]int, len(threads))
		for i, s := range threads {
			before[i] = answered(t.Context(), cl, s.ID)
		}
		server.Kill(t, []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT}[round%2])
		told(r, threads)
		server.Start(t)
		for i, s := range threads { // one turn may have been cut off; the next is new
			e2e.Await(t, s.Name+" to go on", func() bool { return answered(t.Context(), cl, s.ID) >= before[i]+2 })
		}
	}
	quiet()
	talking.Wait()
	for i, s := range threads {
		e2e.Await(t, s.Name+" to be answered", func() bool {
			return answered(t.Context(), cl, s.ID) == len(sent[i])
		})
	}
	cancel()
	following.Wait()
	n := 0
	for i, s := range threads {
		n += len(sent[i])
		a.onceEach(t, cl, s, sent[i])
	}
	t.Logf("%d turns, %d acknowledged checkpoints, all there once", n, a.count())
}

// converse asks a thread one thing after the other, each when the last is answered, until the context ends, and returns
// what was asked. What the store does not take is typed in the agent itself.
func converse(ctx context.Context, cl *client.Client, id thread.ID) []string {
	var sent []string
	for ctx.Err() == nil {
		prompt := fmt.Sprintf("run echo %d", len(sent))
		err := e2e.Send(context.WithoutCancel(ctx), cl, string(id), prompt)
		if s, e := api.Status.Do(ctx, cl, api.Ref{Thread: string(id)}); errors.Is(err, thread.ErrUnreachable) && e == nil && waits(s.State.State) {
			err = e2e.TypeIn(context.WithoutCancel(ctx), cl, id, prompt)
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond) // the agent still starts
			continue
		}
		sent = append(sent, prompt)
		for ctx.Err() == nil && answered(ctx, cl, id) < len(sent) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return sent
}

// answered counts a thread's stored turns; 0 when the store does not say.
func answered(ctx context.Context, cl *client.Client, id thread.ID) int {
	newest, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: string(id), Page: thread.Page{Limit: 1, Turns: true}})
	if err != nil || len(newest) == 0 {
		return 0
	}
	return newest[0].Turn
}

// told checks that people learn what is wrong while the database is away.
func told(r *e2e.Rig, threads []thread.Status) {
	r.T.Helper()
	e2e.Await(r.T, "a thread to say that its answer is not stored", func() bool {
		return slices.ContainsFunc(threads, func(s thread.Status) bool {
			return strings.Contains(r.Ok("why", s.Name), "the last answer is not stored yet")
		})
	})
	if res := r.Run("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "× store") || !strings.Contains(res.Stdout, "cannot be reached") {
		r.T.Errorf("the doctor, exit %d:\n%s", res.Code, res.Stdout)
	}
	r.NoSecret()
}

// saysWhy logs, if the test has failed, what is known of each thread.
func saysWhy(r *e2e.Rig, threads []thread.Status) {
	if !r.T.Failed() {
		return
	}
	for _, s := range threads {
		r.T.Logf("%s\n%s\n%s", r.Run("why", s.Name).Stdout, r.Run("prompts", s.Name).Stdout, r.Run("checkpoint", "list", s.Name).Stdout)
	}
}

// onceEach checks that a thread's turns are the prompts that it was sent, and that all that was acknowledged is there.
func (a *acked) onceEach(t *testing.T, cl *client.Client, s thread.Status, sent []string) {
	t.Helper()
	all, err := api.Timeline.Do(t.Context(), cl, api.TimelineRequest{Thread: string(s.ID), Page: thread.Page{Limit: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	var turns []string
	stored := map[thread.CheckpointID]bool{}
	for _, c := range slices.Backward(all) {
		stored[c.ID] = true
		if c.Kind == thread.KindTurn {
			turns = append(turns, c.Prompt)
		}
	}
	if !slices.Equal(turns, sent) {
		t.Errorf("%s was sent %q and has %q", s.Name, sent, turns)
	}
	for id := range a.ids[s.ID] {
		if !stored[id] {
			t.Errorf("%s lost the checkpoint %s, which was acknowledged", s.Name, id)
		}
	}
}

// waits reports whether an agent is seen to wait for a prompt, so that no key is lost that is typed.
func waits(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }
