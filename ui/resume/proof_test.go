package resume

import (
	"testing"

	"orchestrator/thread"
)

func TestProof(t *testing.T) {
	for _, c := range []struct {
		p    *thread.ResumeProof
		want string
	}{
		{nil, "not checked yet"},
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1234567}, "✓ verified (1.2 MiB)"},
		{&thread.ResumeProof{How: thread.ResumeFresh, Prompts: []thread.Prompt{{Text: "first"}, {Text: "second\nline"}}},
			"no conversation yet · unanswered: “second” and 1 more"},
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1}, "✓ verified (1 B)"},
		{&thread.ResumeProof{How: thread.ResumeRebuilt, Detail: "written anew\x1b[m", Worktree: "clean"}, "written anew␛[m · clean"},
		{&thread.ResumeProof{How: thread.ResumePrimer, Incomplete: "turn 3"}, "from a summary of the stored conversation · incomplete: turn 3"},
		{&thread.ResumeProof{How: thread.ResumeFresh}, "no conversation yet"},
	} {
		if got, _ := Proof(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
