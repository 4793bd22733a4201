package gemini_test

import (
	"testing"

	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestReadUntilTheNextTurn reads for an answer when the next turn has begun: it ends with its own turn,
// and the rest is read behind it.
func TestReadUntilTheNextTurn(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	a := gemini.New(launch.Config{Env: env})
	session := launch.UUID()
	n := write(t, env, home, session, 3)
	chunks, err := a.ReadTranscript(t.Context(),
		thread.TranscriptSpec{Session: session, Dir: home, Env: env, Answer: "answer-2."})
	if err != nil || len(chunks) != 1 {
		t.Fatalf("%d chunks: %v", len(chunks), err)
	}
	if got := int64(len(chunks[0].Data)); got != n.Ends[1] {
		t.Errorf("read %d bytes, and turn 2 ends at %d", got, n.Ends[1])
	}
}
