package session_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestSignsOfAProgramWithoutRules runs a program that has no adapter and tells its terminal what it does.
func TestSignsOfAProgramWithoutRules(t *testing.T) {
	h := start(t, sessionsWith(t, nil), "signs", `
stty -echo
printf '\033]9;4;3;0\007busy\r\n'; read x
printf '\033]9;4;0;0\007'; read x
printf '\033]0;\342\234\213 Action Required\007'; read x
printf '\033]0;x\007\033[2J\033[HAllow this?\r\n\342\235\257 1. Yes\r\n  2. No\r\n'; read x
printf '\033[2J\033[H\033]9;4;1;50\007'; read x
printf '\033]9;4;0\007\033]777;notify;x;needs you\007'; read x
`)
	next := func() {
		t.Helper()
		if err := h.Input([]byte("\r")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []thread.State{
		thread.StateWorking, thread.StateIdle, thread.StateApproval,
		thread.StateApproval, thread.StateWorking, thread.StateQuestion,
	} {
		await.Until(t, string(want), func() bool { return h.now() == want })
		next()
	}
	waitDone(t, h)
}
