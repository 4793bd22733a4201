package slim

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/world"
	"orchestrator/thread"
)

// largeFile is the size of a file of instructions that is worth a word: 2,000 tokens in every request.
const largeFile = 8 << 10

// ManySkills is how many skills of a person's, of about 60 tokens each, are worth a word.
const ManySkills = 40

// enough is how many entries of a folder are looked at for what counts.
const enough = 2000

// LargeFiles returns a warning for each file of instructions that is large.
func LargeFiles(paths []string) []thread.BaseWarning {
	var all []thread.BaseWarning
	var seen []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() <= largeFile || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		all = append(all, thread.BaseWarning{
			What: fmt.Sprintf("%s has %s, and every request has all of it", path, thread.Bytes(info.Size())),
			Do:   "Shorten it, or move parts into skills, which are read when they are needed.",
		})
	}
	return all
}

// Above returns the folders from the root of the repository down to dir, dir alone outside of one.
func Above(dir string) []string {
	root, _ := world.Repository(dir)
	var all []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		all = append(all, at)
		if root == "" || at == root || at == filepath.Dir(at) {
			slices.Reverse(all)
			return all
		}
	}
}

// Find returns the names, without their endings, of files below folders whose base name matches a pattern; a file
// named SKILL.md has the name of its folder. Folders that are not there have none; what of them is looked at is bounded.
func Find(pattern string, folders ...string) []string {
	var names []string
	seen := 0
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			seen++
			switch {
			case seen > enough:
				return fs.SkipAll
			case err != nil:
				return nil // what cannot be read is nothing for the agent either
			case d.IsDir():
				return nil
			}
			if ok, _ := filepath.Match(pattern, d.Name()); ok {
				name := strings.TrimSuffix(d.Name(), filepath.Ext(path))
				if strings.EqualFold(d.Name(), "SKILL.md") {
					name = filepath.Base(filepath.Dir(path))
				}
				names = append(names, name)
			}
			return nil
		})
	}
	return names
}
