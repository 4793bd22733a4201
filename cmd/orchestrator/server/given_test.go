package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	planmemory "orchestrator/checkpoint/plantest/memory"
	"orchestrator/thread/attachment"
	"orchestrator/thread/plan"
)

// TestWhatGoneTasksWereGivenGoes, and what others were given stays.
func TestWhatGoneTasksWereGivenGoes(t *testing.T) {
	t.Parallel()
	state, store := t.TempDir(), planmemory.New(time.Now)
	if err := dropGiven(t.Context(), state, store); err != nil {
		t.Fatal(err)
	}
	task, err := store.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.Pending}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range []string{task.Name, "task-999"} {
		file, err := attachment.At(filepath.Join(state, givenFolder, name, "echo.1")).Put("vision.v1.json", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if err := dropGiven(t.Context(), state, store); err != nil {
		t.Fatal(err)
	}
	_, kept := os.Stat(files[0])
	if _, gone := os.Stat(filepath.Join(state, givenFolder, "task-999")); kept != nil || !os.IsNotExist(gone) {
		t.Error(kept, gone)
	}
}
