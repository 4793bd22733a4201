package eventlog

import (
	"testing"
	"time"

	"orchestrator/thread"
)

// TestNoticeAbout: what a notice is about that is no thread is the name of what happened.
func TestNoticeAbout(t *testing.T) {
	var teller Teller
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	told, _ := teller.Tell(thread.Event{At: at, Kind: thread.EventNotice, Notice: &thread.Notice{
		Level: thread.LevelWarn, Kind: thread.HappenedAsks, About: "task-001/publish", Text: "Publish it?",
	}})
	if len(told) != 1 || told[0].Name != "task-001/publish" || told[0].Label != "task-001/publish" || told[0].Thread != "" || told[0].Words() != "asks: Publish it?" {
		t.Errorf("%+v", told)
	}
	told, _ = teller.Tell(thread.Event{At: at, Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelWarn, Text: "disk is nearly full"}})
	if len(told) != 1 || told[0].Name != "" {
		t.Errorf("%+v", told)
	}
}
