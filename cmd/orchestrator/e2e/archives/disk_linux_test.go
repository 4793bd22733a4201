package archives

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestImportOnFullDisk: an import whose staged data has no room says so, and leaves nothing.
func TestImportOnFullDisk(t *testing.T) {
	e2e.ManyStarts(t)
	r := e2e.NewRig(t)
	name := r.Demo("carry me")
	small := r.Stage("small\n")
	data := make([]byte, 16<<20)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	large := r.Stage("\x00" + string(data))
	r.Turn(name, "list files for "+small+" and "+large)
	r.MaskResult(r.Status(name).ID, "a long result\n")
	file := filepath.Join(r.Home, "carried")
	r.Ok("export", name, "-o", file)

	there := e2e.NewRig(t)
	dir := there.StateDisk(0)
	there.Says(exitcode.Error, []string{"disk is full", "Free some space"}, "import", file)
	if n := len(e2e.Get[[]thread.Status](there, "threads", "--all")); n != 0 {
		t.Errorf("%d threads", n)
	}
	for _, folder := range []string{"staging", "masks"} {
		if left, err := os.ReadDir(filepath.Join(dir, folder)); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v, %v", folder, left, err)
		}
	}
}
