package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/plan"
)

// Folder is the project's folder of plans, relative to its root.
const Folder = ".orchestrator.d/plans"

// Library finds plans.
type Library struct {
	Project string // the project's folder
	Person  string // the person's own folder of plans
}

// New returns the plans of a project and those in a person's configuration.
func New(project, configHome string) Library {
	return Library{Project: project, Person: filepath.Join(configHome, "orchestrator", "plans")}
}

// Find reads a plan: by its path if it has a slash or the end of a file's name, else by its name in the project's folder of
// plans or the person's.
func (l Library) Find(ref, here string) (File, error) {
	if strings.ContainsRune(ref, filepath.Separator) || extended(ref) {
		if !filepath.IsAbs(ref) {
			ref = filepath.Join(here, ref)
		}
		return l.path(ref)
	}
	var found []string
	for _, folder := range []string{filepath.Join(l.Project, Folder), l.Person} {
		for _, end := range ends() {
			path := filepath.Join(folder, ref+end)
			if _, err := os.Lstat(path); err == nil {
				found = append(found, path)
			}
		}
	}
	switch len(found) {
	case 1:
		return l.path(found[0])
	case 0:
		names := l.Names()
		all := "put it into " + Folder + ", or name a file"
		if len(names) > 0 {
			all = "there are: " + harmless(strings.Join(names, ", "))
		}
		return File{}, thread.Hint(thread.Kindf(thread.ErrNotFound, "there is no plan %q", harmless(ref)), thread.Meant(near.Names(ref, names), all))
	}
	return File{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "there are several plans %q", harmless(ref)), "name one by its path: "+harmless(strings.Join(found, ", ")))
}

// ends are those of the names of plans' files.
func ends() []string { return []string{".toml", ".json"} }

func extended(name string) bool { return slices.Contains(ends(), strings.ToLower(filepath.Ext(name))) }

// Names returns the names of all plans.
func (l Library) Names() []string {
	var names []string
	for _, path := range l.List() {
		names = append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// List returns the paths of all plans, the project's first.
func (l Library) List() []string {
	var paths []string
	for _, folder := range []string{filepath.Join(l.Project, Folder), l.Person} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if extended(e.Name()) && !e.IsDir() && len(paths) < plan.MaxAgents {
				paths = append(paths, filepath.Join(folder, e.Name()))
			}
		}
	}
	return paths
}

// path reads a plan's file. One in the project is the repository's: it asks, and no link leads to it or to what it names. Of
// the person's own files, the way to the plan itself may have links.
func (l Library) path(path string) (File, error) {
	rel, inside := within(l.Project, path)
	if !inside {
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			return File{}, thread.Kindf(thread.ErrNotFound, "there is no file %s", harmless(path))
		}
		if err != nil {
			return File{}, about(path, err)
		}
		path = real
		rel, inside = within(l.Project, path) // it may lead there
	}
	folder := filepath.Dir(path)
	if inside {
		root, err := os.OpenRoot(l.Project)
		if err != nil {
			return File{}, about(path, err)
		}
		defer root.Close()
		if err := unlinked(root, rel); err != nil {
			return File{}, about(path, err)
		}
		path = filepath.Join(l.Project, rel) // one name, however the person came there
		folder = filepath.Dir(path)
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, thread.Kindf(thread.ErrNotFound, "there is no folder %s", harmless(folder))
	}
	if err != nil {
		return File{}, about(path, err)
	}
	defer root.Close()
	f, err := read(root, path, filepath.Base(path))
	if err != nil {
		return f, err
	}
	var brings bool
	if f.Programs, brings, err = programs(&f.Plan, l.Project); err != nil {
		return f, fmt.Errorf("programs of plan %s: %w", harmless(path), err)
	}
	f.Asks = inside || brings
	return f, nil
}

// within returns a path relative to a folder that it is in, whatever links lead to either.
func within(folder, path string) (rel string, inside bool) {
	ways := []string{filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		ways = append(ways, filepath.Join(real, filepath.Base(path)))
	}
	folders := []string{filepath.Clean(folder)}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folders = append(folders, real)
	}
	for _, way := range ways {
		for _, f := range folders {
			if rel, err := filepath.Rel(f, way); err == nil && filepath.IsLocal(rel) {
				return rel, true
			}
		}
	}
	return "", false
}
