package hub_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"

	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread/ground/rpc"
)

var params = json.RawMessage(`{"name":"echo","arguments":{"text":"hello"}}`)

// BenchmarkStart is the time from the first call to its response.
func BenchmarkStart(b *testing.B) {
	r := newRig(b, nil)
	s, c := server(), r.by("t1")
	for b.Loop() {
		r.must(s, c, "echo", "{}")
		b.StopTimer()
		r.Stop(s.Hash)
		b.StartTimer()
	}
}

// BenchmarkCall is a call of a running server. Compare it with BenchmarkDirectCall.
func BenchmarkCall(b *testing.B) {
	r := newRig(b, nil)
	s, c := server(), r.by("t1")
	for b.Loop() {
		if _, err := r.Call(context.Background(), s, c, "tools/call", params); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDirectCall is a call of the same server without the hub.
func BenchmarkDirectCall(b *testing.B) {
	cmd, args, _ := mcptest.Command()
	program := exec.Command(cmd, args...)
	in, err := program.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	peer := rpc.NewPeer(rpc.NewLines(out, in, in, nil), remote{})
	go func() { _ = peer.Run() }()
	for b.Loop() {
		if _, err := peer.Call(context.Background(), "tools/call", params); err != nil {
			b.Fatal(err)
		}
	}
	if err := peer.Close(); err != nil {
		b.Error(err)
	}
	_ = program.Wait()
}
