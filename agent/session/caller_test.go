package session_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestCaller finds the thread that a process acts for, by what the kernel knows about it before its token.
func TestCaller(t *testing.T) {
	all := sessions(t)
	begin := func(id thread.ID) (pid int, token string) {
		h := start(t, all, id, `echo "pid $$ token $ORCHESTRATOR_TOKEN."; read x`)
		await.Until(t, "output", func() bool { return h.shows("token") && h.shows(".") })
		words := strings.Fields(strings.Join(h.Screen(), ""))
		pid, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		return pid, strings.TrimSuffix(words[3], ".")
	}
	pidA, tokenA := begin("a")
	pidB, tokenB := begin("b")
	for _, c := range []struct {
		name  string
		pid   int
		token string
		id    thread.ID
		agent bool
	}{
		{"the person", os.Getpid(), "", "", false},
		{"by descent", pidA, "", "a", true},
		{"the other", pidB, "", "b", true},
		{"by token", os.Getppid(), tokenA, "a", true},
		{"by token alone", 0, tokenB, "b", true},
		{"with another's token", pidA, tokenB, "a", true},
		{"with a token that nobody has", os.Getppid(), "x" + tokenA, "", true},
	} {
		id, agent, err := all.Caller(c.pid, c.token)
		if err != nil || id != c.id || agent != c.agent {
			t.Errorf("%s: %q, %v, %v; want %q, %v", c.name, id, agent, err, c.id, c.agent)
		}
	}
}
