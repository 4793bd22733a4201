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
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1234567}, "transcript verified (1,234,567 bytes)"},
		{&thread.ResumeProof{How: thread.ResumeFresh, Prompts: []thread.Prompt{{Text: "first"}, {Text: "second\nline"}}},
			"nothing was said yet · not answered: “second” and 1 more"},
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1}, "transcript verified (1 byte)"},
		{&thread.ResumeProof{How: thread.ResumeRebuilt, Detail: "written anew\x1b[m", Worktree: "clean"}, "written anew␛[m · worktree: clean"},
		{&thread.ResumeProof{How: thread.ResumePrimer, Incomplete: "turn 3"}, "a summary of what is stored · incomplete: turn 3"},
		{&thread.ResumeProof{How: thread.ResumeFresh}, "nothing was said yet"},
	} {
		if got, _ := Proof(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
