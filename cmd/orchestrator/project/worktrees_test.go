package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorktrees puts the folder of worktrees where the person says, and nowhere that a project's tools or every
// program reach.
func TestWorktrees(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{top}, names...)...) }
	for _, dir := range []string{"home", "src/shop", "tmp"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"into": "src/shop", "intoTmp": "tmp"} {
		if err := os.Symlink(at(to), at(name)); err != nil {
			t.Fatal(err)
		}
	}
	p := Project{
		Root: at("src/shop"), folder: "shop-12345678",
		places: Places{Home: at("home"), State: at("home/.local/state"), Temp: []string{at("tmp")}},
	}
	own := "/shop-12345678"
	for set, want := range map[string]string{
		"":              p.StateDir() + "/worktrees",
		"~/forks":       at("home/forks") + own,
		at("forks"):     at("forks") + own,
		at("src"):       at("src") + own,
		"forks":         "absolute",
		"./forks":       "absolute",
		"~other/forks":  "absolute",
		at("src/shop"):  "lies in the project",
		at("into/x"):    "lies in the project",
		at("tmp/forks"): "below the temporary folder",
		at("intoTmp/x"): "below the temporary folder",
	} {
		got, err := p.Worktrees(set)
		switch {
		case err != nil && !strings.Contains(err.Error(), want), err == nil && got != want:
			t.Errorf("%q: %s, %v; want %s", set, got, err, want)
		case err == nil:
			if _, err := os.Lstat(filepath.Dir(got)); set == at("forks") && err == nil {
				t.Errorf("%q was made", set)
			}
		}
	}
}
