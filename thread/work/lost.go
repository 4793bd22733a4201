package work

// resumes is how many attempts an execution may have before a loss is left to a person: what takes the server down each
// time it runs must not do so for ever.
const resumes = 3

// Sequel is what follows on a loss.
type Sequel struct {
	// State is Lost if a person decides, Queued if it is tried again, or Failed.
	State State
	// Resume is set if it goes on in the agent's own session; else it begins again.
	Resume bool
	Reason string // for people
}

// AfterLoss returns what follows for an execution that is lost for a reason, by its policy. Resumable says whether the
// agent's own session can be resumed.
func AfterLoss(x Execution, resumable bool, why string) Sequel {
	switch x.Lost {
	case PolicyFail:
		return Sequel{State: Failed, Reason: why}
	case PolicyRetry:
		if x.Attempt > 1 {
			return Sequel{State: Lost, Reason: "it was lost again after a second attempt; a person decides what follows"}
		}
		return Sequel{State: Queued, Reason: "it was lost, and is tried once more"}
	case PolicyResume:
		switch {
		case !resumable:
			return Sequel{State: Lost, Reason: "it was lost, and its session cannot be resumed; a person decides what follows"}
		case x.Attempt >= resumes:
			return Sequel{State: Lost, Reason: "it was lost in each of several attempts; a person decides what follows"}
		}
		return Sequel{State: Queued, Resume: true, Reason: "it was lost, and goes on in its session"}
	default:
		return Sequel{State: Lost, Reason: why + "; a person decides what follows"}
	}
}
