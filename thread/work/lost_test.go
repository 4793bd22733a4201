package work

import "testing"

func TestAfterLoss(t *testing.T) {
	for _, tc := range []struct {
		policy    Policy
		attempt   int
		resumable bool
		state     State
		resume    bool
	}{
		{PolicyAsk, 1, true, Lost, false},
		{PolicyAsk, 1, false, Lost, false},
		{"", 1, true, Lost, false},
		{"unknown", 1, true, Lost, false},
		{PolicyResume, 1, true, Queued, true},
		{PolicyResume, 1, false, Lost, false},
		{PolicyResume, 2, true, Queued, true},
		{PolicyResume, 3, true, Lost, false},
		{PolicyRetry, 1, true, Queued, false},
		{PolicyRetry, 1, false, Queued, false},
		{PolicyRetry, 2, true, Lost, false},
		{PolicyFail, 1, true, Failed, false},
		{PolicyFail, 1, false, Failed, false},
	} {
		got := AfterLoss(Execution{Lost: tc.policy, Attempt: tc.attempt}, tc.resumable, "it died")
		if got.State != tc.state || got.Resume != tc.resume || got.Reason == "" {
			t.Errorf("%s, attempt %d, resumable %v: %+v", tc.policy, tc.attempt, tc.resumable, got)
		}
		if !Follows(Lost, got.State) {
			t.Errorf("%s: %s does not follow on a loss", tc.policy, got.State)
		}
	}
}

// TestLossesEnd: whatever the policy, an execution that takes its server down every time is not tried for ever.
func TestLossesEnd(t *testing.T) {
	for _, p := range []Policy{PolicyAsk, PolicyResume, PolicyRetry, PolicyFail} {
		x := Execution{Lost: p}
		for x.Attempt = 1; AfterLoss(x, true, "it died").State == Queued; x.Attempt++ {
			if x.Attempt > 10 {
				t.Fatalf("%s is tried for ever", p)
			}
		}
	}
}
