package activity

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Started is the evidence from the start of a main request.
func Started(b thread.Begun) thread.Evidence {
	return thread.Evidence{
		Source: thread.SourceGateway, State: thread.StateWorking, Detail: "request to " + cmp.Or(b.Model, "the model"),
		At: b.At, Again: b.Again,
	}
}

// Reached is the evidence from a stage of a main request; false if there is none.
func Reached(s thread.Stage, at time.Time) (thread.Evidence, bool) {
	e := thread.Evidence{Source: thread.SourceGateway, At: at}
	switch s {
	case thread.StageUnconnected:
		e.State, e.Detail = thread.StateUnreachable, "no connection to the provider yet"
	case thread.StageSilent:
		e.State, e.Detail = thread.StateSilent, "the provider has not started to answer"
	case thread.StageAnswering:
		e.State, e.Detail, e.Answers = thread.StateWorking, "the model is answering", true
	default:
		return e, false
	}
	return e, true
}

// Failure is the evidence from an exchange without an answer.
func Failure(e thread.Exchange) thread.Evidence {
	v := thread.Evidence{Source: thread.SourceGateway, At: e.Ended, Began: e.Started, Detail: e.Err, State: trouble(e)}
	if v.State == thread.StateLimited {
		v.Until = e.Until
	}
	if v.Detail == "" {
		v.Detail = fmt.Sprintf("the provider answered with status %d", e.Status)
	} else if e.Status != 0 && e.Fault != thread.FaultOurs {
		v.Detail = fmt.Sprintf("status %d: %s", e.Status, v.Detail)
	}
	return v
}

// Provider is how a main request ended for its execution; the zero value if the model has answered.
func Provider(e thread.Exchange) work.Provider {
	answered := e.Answer != nil || e.Unread
	if answered && !e.Interrupted {
		return work.Provider{}
	}
	p := work.Provider{State: trouble(e), Status: e.Status, Fault: e.Fault, Until: e.Until}
	if e.Fault == thread.FaultOurs {
		p.Why = e.Err
	}
	return p
}

// trouble is the state that a failed exchange leads to. If the agent itself gave up the request it is unknown: other
// evidence must tell what comes next.
func trouble(e thread.Exchange) thread.State {
	switch e.Fault {
	case thread.FaultAgent:
		return thread.StateUnknown
	case thread.FaultUnreachable:
		return thread.StateUnreachable
	case thread.FaultLimited:
		return thread.StateLimited
	case thread.FaultUnauthorised:
		return thread.StateUnauthorised
	case thread.FaultNoAnswer:
		return thread.StateUnavailable
	case thread.FaultOurs:
		if e.Status == http.StatusServiceUnavailable { // the provider has not failed
			return thread.StateLimited
		}
	default:
	}
	if state := thread.TroubleOf(e.Status); state != "" {
		return state
	}
	switch {
	case e.Status == 0 && e.Err != "":
		return thread.StateUnavailable
	case e.Fault == thread.FaultError:
		return thread.StateFailed
	case e.Interrupted || e.Fault == thread.FaultCut:
		return thread.StateCut
	case e.EndsTurn:
		return thread.StateIdle // it answered nothing
	default:
		return thread.StateUnknown
	}
}

// Outcome is the evidence from an exchange with an answer.
func Outcome(e thread.Exchange, s thread.Source) thread.Evidence {
	v := thread.Evidence{Source: s, At: e.Ended, Began: e.Started}
	switch {
	case e.Unread:
		v.State, v.Detail = thread.StateUnknown, e.Err
	case e.Fault == thread.FaultAgent:
		v.State, v.Detail = thread.StateUnknown, "the agent cancelled the answer"
	case e.Interrupted:
		v = Failure(e)
		v.Source, v.Detail = s, "the answer was cut off: "+cmp.Or(e.Err, "unknown reason")
	case e.EndsTurn:
		v.State, v.Detail = thread.StateIdle, "answered, stop reason "+cmp.Or(e.Stop, "unknown")
	case len(e.Tools) > 0:
		v.State, v.Detail = thread.StateWorking, "running "+strings.Join(e.Tools, ", ")
	default:
		v.State, v.Detail = thread.StateWorking, "stop reason "+cmp.Or(e.Stop, "unknown")
	}
	return v
}
