package activity_test

import (
	"reflect"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
)

var (
	early = time.Unix(100, 0)
	later = time.Unix(200, 0)
)

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name   string
		e      thread.Exchange
		state  thread.State
		detail string
	}{
		{"answered", thread.Exchange{Status: 200, EndsTurn: true, Stop: "end"}, thread.StateIdle, "answered, stop reason end"},
		{"answered, no reason", thread.Exchange{Status: 200, EndsTurn: true}, thread.StateIdle, "answered, stop reason unknown"},
		{"calls tools", thread.Exchange{Status: 200, Tools: []string{"a", "b"}}, thread.StateWorking, "running a, b"},
		{"goes on", thread.Exchange{Status: 200, Stop: "pause"}, thread.StateWorking, "stop reason pause"},
		{"unread", thread.Exchange{Status: 200, Unread: true, Err: "no JSON", EndsTurn: true}, thread.StateUnknown, "no JSON"},
		{"given up by the agent", thread.Exchange{Status: 200, Interrupted: true, Fault: thread.FaultAgent}, thread.StateUnknown, "the agent cancelled the answer"},
		{"cut off", thread.Exchange{Status: 200, Interrupted: true, Fault: thread.FaultCut, Err: "EOF"}, thread.StateCut, "the answer was cut off: EOF"},
		{"cut off by a limit", thread.Exchange{Status: 200, Interrupted: true, Fault: thread.FaultLimited}, thread.StateLimited, "the answer was cut off: unknown reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.Started, c.e.Ended = early, later
			got := activity.Outcome(c.e, thread.SourceTranscript)
			want := thread.Evidence{Source: thread.SourceTranscript, State: c.state, Detail: c.detail, At: later, Began: early}
			if got != want {
				t.Errorf("Outcome = %+v, want %+v", got, want)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	until := time.Unix(300, 0)
	for _, c := range []struct {
		name   string
		e      thread.Exchange
		state  thread.State
		detail string
		until  time.Time
	}{
		{"given up by the agent", thread.Exchange{Fault: thread.FaultAgent, Err: "gone"}, thread.StateUnknown, "gone", time.Time{}},
		{"unreachable", thread.Exchange{Fault: thread.FaultUnreachable, Err: "dial"}, thread.StateUnreachable, "dial", time.Time{}},
		{"a page of a proxy", thread.Exchange{Fault: thread.FaultNoAnswer, Status: 200}, thread.StateUnavailable, "the provider answered with status 200", time.Time{}},
		{"unauthorised", thread.Exchange{Status: 401}, thread.StateUnauthorised, "the provider answered with status 401", time.Time{}},
		{"forbidden", thread.Exchange{Status: 403, Err: "no"}, thread.StateUnauthorised, "status 403: no", time.Time{}},
		{"unauthorised in the answer", thread.Exchange{Status: 200, Fault: thread.FaultUnauthorised, Err: "no"}, thread.StateUnauthorised, "status 200: no", time.Time{}},
		{"limited", thread.Exchange{Status: 429, Err: "slow", Until: until}, thread.StateLimited, "status 429: slow", until},
		{"overloaded", thread.Exchange{Status: 529}, thread.StateLimited, "the provider answered with status 529", time.Time{}},
		{"to be paid", thread.Exchange{Status: 402}, thread.StateLimited, "the provider answered with status 402", time.Time{}},
		{"provider failed", thread.Exchange{Status: 503, Until: until}, thread.StateUnavailable, "the provider answered with status 503", time.Time{}},
		{"timed out", thread.Exchange{Status: 408}, thread.StateUnavailable, "the provider answered with status 408", time.Time{}},
		{"no status", thread.Exchange{Err: "reset"}, thread.StateUnavailable, "reset", time.Time{}},
		{"wrong request", thread.Exchange{Status: 400, Err: "bad"}, thread.StateFailed, "status 400: bad", time.Time{}},
		{"error in the answer", thread.Exchange{Status: 200, Fault: thread.FaultError, Err: "bad"}, thread.StateFailed, "status 200: bad", time.Time{}},
		{"cut off", thread.Exchange{Status: 200, Fault: thread.FaultCut, Err: "EOF"}, thread.StateCut, "status 200: EOF", time.Time{}},
		{"refused by us", thread.Exchange{Status: 429, Fault: thread.FaultOurs, Err: "our cap", Until: until}, thread.StateLimited, "our cap", until},
		{"no memory here", thread.Exchange{Status: 503, Fault: thread.FaultOurs, Err: "our cap"}, thread.StateLimited, "our cap", time.Time{}},
		{"answered nothing", thread.Exchange{Status: 200, EndsTurn: true}, thread.StateIdle, "the provider answered with status 200", time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.Ended = later
			got := activity.Failure(c.e)
			want := thread.Evidence{Source: thread.SourceGateway, State: c.state, Detail: c.detail, At: later, Until: c.until}
			if got != want {
				t.Errorf("Failure = %+v, want %+v", got, want)
			}
		})
	}
}

func TestReached(t *testing.T) {
	for stage, want := range map[thread.Stage]thread.State{
		thread.StageUnconnected: thread.StateUnreachable, thread.StageSilent: thread.StateSilent,
		thread.StageAnswering: thread.StateWorking, "another": "",
	} {
		got, says := activity.Reached(stage, later)
		if got.State != want || says != (want != "") || got.Answers != (stage == thread.StageAnswering) {
			t.Errorf("%s: %+v, %v", stage, got, says)
		}
	}
}

func TestRequests(t *testing.T) {
	var r activity.Requests
	if !r.Quiet() {
		t.Error("it is not quiet before the first request")
	}
	r.Begin()
	if r.Begun() != 1 || !r.InFlight() || r.Quiet() {
		t.Errorf("one began: %+v", r)
	}
	r.End(true)
	if r.InFlight() || !r.Waiting() || !r.Unstored() || r.Quiet() {
		t.Errorf("it was answered: %+v", r)
	}
	r.Take()
	if r.Waiting() || !r.Unstored() {
		t.Errorf("its answer is being recorded: %+v", r)
	}
	r.Await()
	if r.Store(1) || !r.Store(1) || !r.Quiet() {
		t.Errorf("its answer and another are durable: %+v", r)
	}
	r.Begin()
	r.End(false)
	r.Fail(r.Begun(), "status 500")
	if r.Failure() != "status 500" || !r.Quiet() {
		t.Errorf("the second failed: %+v", r)
	}
	r.Begin()
	if r.Fail(2, "too late"); r.Failure() != "" {
		t.Errorf("a third began: %q", r.Failure())
	}
	r.End(false)
	r.End(false) // more ends than starts: its start was not told
	if r.InFlight() {
		t.Errorf("all have ended: %+v", r)
	}
}

func TestRunning(t *testing.T) {
	in := func(s thread.State) thread.StateReport { return thread.StateReport{State: s, Since: later} }
	asks := func(id string) thread.StateReport {
		return thread.StateReport{State: thread.StateApproval, Since: later, Question: &thread.Question{ID: id}}
	}
	for _, c := range []struct {
		name   string
		known  activity.Known
		before thread.StateReport
		want   thread.State
		since  time.Time
		why    string
	}{
		{"nothing reported", activity.Known{Started: early}, in(""), thread.StateStarting, early, ""},
		{"works", activity.Known{Reported: in(thread.StateWorking), Unstored: true}, in(""), thread.StateWorking, later, ""},
		{"answered", activity.Known{Reported: in(thread.StateIdle)}, in(""), thread.StateDone, later, ""},
		{"answered and seen", activity.Known{Reported: in(thread.StateIdle), Seen: true}, in(""), thread.StateIdle, later, ""},
		{"done and seen", activity.Known{Reported: in(thread.StateDone), Seen: true}, in(""), thread.StateIdle, later, ""},
		{"answer being stored", activity.Known{Reported: in(thread.StateIdle), Unstored: true},
			thread.StateReport{State: thread.StateWorking, Since: early}, thread.StateWorking, early, "storing the last answer"},
		{"answer being stored, asked for the first time", activity.Known{Reported: in(thread.StateIdle), Unstored: true},
			in(thread.StateDone), thread.StateWorking, later, "storing the last answer"},
		{"answer refused", activity.Known{Reported: in(thread.StateIdle), Unstored: true, Trouble: "disk full"},
			in(""), thread.StateWorking, later, "the last answer is not stored yet: disk full"},
		{"asks while it is stored", activity.Known{Reported: in(thread.StateApproval), Unstored: true}, in(""), thread.StateWorking, later, "storing the last answer"},
		{"asked before it came", activity.Known{Reported: asks("q1"), Unstored: true}, asks("q1"), thread.StateApproval, later, ""},
		{"asks something else than before it came", activity.Known{Reported: asks("q2"), Unstored: true}, asks("q1"),
			thread.StateWorking, later, "storing the last answer"},
		{"asked in a dialog that nothing reads, before it came", activity.Known{Reported: in(thread.StateQuestion), Unstored: true},
			in(thread.StateQuestion), thread.StateQuestion, later, ""},
		{"asks again", activity.Known{Reported: in(thread.StateQuestion), Unstored: true},
			thread.StateReport{State: thread.StateQuestion, Since: early}, thread.StateWorking, later, "storing the last answer"},
		{"asks while it is refused", activity.Known{Reported: in(thread.StateQuestion), Unstored: true, Trouble: "disk full"},
			in(""), thread.StateQuestion, later, ""},
		{"being told", activity.Known{Reported: in(thread.StateIdle), First: true}, in(""), thread.StateStarting, later, "typing its first prompt"},
		{"limited", activity.Known{Reported: in(thread.StateLimited), Unstored: true}, in(""), thread.StateLimited, later, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := activity.Running(c.known, c.before)
			if got.State != c.want || !got.Since.Equal(c.since) || got.Why() != c.why {
				t.Errorf("Running = %s since %s, %q; want %s since %s, %q", got.State, got.Since, got.Why(), c.want, c.since, c.why)
			}
		})
	}
}

func TestStill(t *testing.T) {
	killed := thread.Exit{Code: 137}
	for _, c := range []struct {
		name   string
		t      thread.Thread
		before thread.StateReport
		want   thread.State
		since  time.Time
		why    string
	}{
		{"new", thread.Thread{}, thread.StateReport{}, thread.StateExited, early, "not started yet"},
		{"ran", thread.Thread{Session: "s"}, thread.StateReport{}, thread.StateExited, later, "its process exited"},
		{"ended", thread.Thread{Session: "s", Exit: thread.Exit{Reason: "exited"}}, thread.StateReport{}, thread.StateExited, later, "exited with code 0"},
		{"stopped", thread.Thread{Exit: thread.Exit{Reason: "stopped"}}, thread.StateReport{}, thread.StateExited, later, "stopped"},
		{"killed", thread.Thread{Interrupted: true, Exit: killed}, thread.StateReport{}, thread.StateInterrupted, later, "ended by signal 9"},
		{"lost", thread.Thread{Interrupted: true}, thread.StateReport{}, thread.StateInterrupted, later, "its process ended while the server was not running"},
		{"renamed later", thread.Thread{Interrupted: true},
			thread.StateReport{State: thread.StateInterrupted, Since: early, Evidence: []thread.Evidence{{Detail: "its process ended while the server was not running"}}},
			thread.StateInterrupted, early, "its process ended while the server was not running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.t.Created, c.t.Updated = early, later
			got := activity.Stopped(c.t, nil, c.before)
			if got.State != c.want || !got.Since.Equal(c.since) || got.Why() != c.why {
				t.Errorf("Still = %s since %s, %q; want %s since %s, %q", got.State, got.Since, got.Why(), c.want, c.since, c.why)
			}
			proof := &thread.ResumeProof{Rebuilt: true, Detail: "written again"}
			if ev := activity.Stopped(c.t, proof, c.before).Evidence; len(ev) != 2 || ev[1].Detail != proof.Detail {
				t.Errorf("with a proof: %+v", ev)
			}
		})
	}
}

func TestExit(t *testing.T) {
	got := []string{}
	for _, e := range []thread.Exit{
		{Code: 3, Reason: "exited", Screen: "\nboom\n\n"}, {Code: 143}, {Code: 2, Reason: "stopped"}, {Reason: "stopped"},
		{Code: 137, Limit: true, Reason: "out of memory"},
	} {
		got = append(got, activity.Exit(e))
	}
	want := []string{"exited with code 3: boom", "ended by signal 15", "stopped, code 2", "stopped", "out of memory"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Exit = %q, want %q", got, want)
	}
}
