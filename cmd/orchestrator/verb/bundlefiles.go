package verb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/session"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// sources reads the files that go into bundles, as the process that calls may: a verb of an agent in a sandbox reads what
// that lets it read, and the server reads nothing for it.
type sources struct {
	here  string   // what relative paths are relative to
	roots []string // the folders of the project that the caller is in
	agent bool
	left  int64 // bytes that may still be read
}

func sourcesOf(c *cli) (*sources, error) {
	at, err := c.standing()
	if err != nil {
		return nil, err
	}
	below, err := session.Below(c.environ)
	roots := []string{c.project.Root}
	if dir, err := filepath.Abs(c.dir); err == nil {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			roots = append(roots, dir)
		}
	}
	return &sources{here: at.here, roots: roots, agent: below || err != nil, left: bundle.MostContent}, nil
}

// path returns where a source lies, with what it leads over followed.
func (s *sources) path(source string) (string, error) {
	path := filepath.FromSlash(source)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.here, path)
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", thread.Kindf(thread.ErrNotFound, "no such file")
	case err != nil:
		return "", plainCause(err)
	}
	inside := slices.ContainsFunc(s.roots, func(root string) bool { return git.Within(real, root) })
	named := slices.ContainsFunc(s.roots, func(root string) bool { return git.Within(filepath.Clean(path), root) })
	switch {
	case !inside && named:
		return "", thread.Kindf(thread.ErrInvalid, "a link that leads out of the project to %s. Name that itself", real)
	case !inside && s.agent:
		return "", fmt.Errorf("outside the project, which only a person may give an agent to read: %w", thread.ErrNotGranted)
	}
	return real, nil
}

// plainCause is an error of a file without its path, which is said before it.
func plainCause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var ours *private.Error
	if errors.As(err, &ours) {
		return ours.Err
	}
	return err
}

// read returns a file's content. What is no file, no text or too large is an error, and not read.
func (s *sources) read(source string) ([]byte, error) {
	path, err := s.path(source)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, plainCause(err)
	case info.IsDir():
		return nil, thread.Kindf(thread.ErrInvalid, "a folder. Name the files in it")
	case info.Size() > s.left:
		return nil, thread.Hint(thread.Kindf(thread.ErrLimit, "%s: the files of a bundle have at most %s together", thread.Bytes(info.Size()), thread.Bytes(bundle.MostContent)),
			"Name its path in the task instead, or stage it")
	}
	content, err := private.ReadRegular(path, s.left)
	if err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "%w", plainCause(err))
	}
	s.left -= int64(len(content))
	return content, nil
}

// wish is a source that somebody names for a bundle.
type wish struct {
	item bundle.Item
	way  []string // the bundles in which it is named
}

// items returns the items of a bundle with their content. A source that is itself a bundle stands for what is in it; one
// that comes round to itself is an error.
func (s *sources) items(wishes []bundle.Item, into string) ([]bundle.Item, error) {
	var out []bundle.Item
	var errs []error
	todo := make([]wish, len(wishes))
	for i, w := range wishes {
		todo[i] = wish{item: w}
	}
	for len(todo) > 0 {
		w := todo[0]
		todo = todo[1:]
		inner, content, err := s.one(w, into)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", w.item.Source, err))
		case inner != nil:
			todo = append(inner, todo...)
		default:
			w.item.Content = content
			out = append(out, w.item)
		}
		if len(out)+len(todo) > bundle.MostItems {
			return nil, thread.Kindf(thread.ErrLimit, "more than %d files in a bundle", bundle.MostItems)
		}
	}
	return out, errors.Join(errs...)
}

// one reads a source: its content, or the sources that stand in it if it is a bundle.
func (s *sources) one(w wish, into string) (inner []wish, content []byte, err error) {
	if content, err = s.read(w.item.Source); err != nil {
		return nil, nil, err
	}
	if filepath.Ext(w.item.Source) != ".json" || len(w.item.Sections) > 0 {
		return nil, content, nil
	}
	form, err := bundle.Parse(content)
	if err != nil {
		return nil, content, nil //nolint:nilerr // another file of JSON
	}
	path, err := s.path(w.item.Source)
	if err != nil {
		return nil, nil, err
	}
	way := append(slices.Clone(w.way), path)
	if i := slices.Index(w.way, path); i >= 0 || into != "" && path == s.real(into) {
		return nil, nil, thread.Kindf(thread.ErrInvalid, "a bundle that includes itself: %s", strings.Join(s.short(way[max(i, 0):]), " -> "))
	}
	s.left += int64(len(content))
	for _, it := range form.Items {
		inner = append(inner, wish{bundle.Item{Type: it.Type, Source: it.Source, Priority: it.Priority, Sections: it.Sections, Claimed: it.Tokens}, way})
	}
	return inner, nil, nil
}

// real is the path of a file that may not be there yet.
func (s *sources) real(name string) string {
	if path, err := s.path(name); err == nil {
		return path
	}
	return ""
}

func (s *sources) short(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = shortest(s.here, p)
	}
	return out
}

// found returns the items of a bundle with what their files hold now, or why that is not known.
func (s *sources) found(form work.Bundle) []bundle.Item {
	out := make([]bundle.Item, len(form.Items))
	for i, it := range form.Items {
		out[i] = bundle.Item{
			Type: it.Type, Source: it.Source, Priority: it.Priority, Sections: it.Sections, SharedWith: it.SharedWith, Claimed: it.Tokens,
		}
		var err error
		if out[i].Content, err = s.read(it.Source); err != nil {
			out[i].Missing = err.Error()
		}
	}
	return out
}

// bundleArg reads what names a bundle: a file in its printed form, or the id or hash of one that is kept.
func bundleArg(c *cli, name string) (record.BundleArg, error) {
	s, err := sourcesOf(c)
	if err != nil {
		return record.BundleArg{}, err
	}
	content, err := s.read(name)
	if errors.Is(err, thread.ErrNotFound) && !strings.ContainsAny(name, `/\`) && filepath.Ext(name) != ".json" {
		return record.BundleArg{Ref: name}, nil
	}
	var form work.Bundle
	if err == nil {
		form, err = bundle.Parse(content)
	}
	if err != nil {
		return record.BundleArg{}, fmt.Errorf("bundle %s: %w", name, err)
	}
	s.left += int64(len(content))
	return record.BundleArg{Form: &form, Items: s.found(form)}, nil
}

// bundleArgs is bundleArg for several.
func bundleArgs(c *cli, names []string) ([]record.BundleArg, error) {
	var out []record.BundleArg
	for _, name := range names {
		arg, err := bundleArg(c, name)
		if err != nil {
			return nil, err
		}
		out = append(out, arg)
	}
	return out, nil
}

// writeOutput writes what a verb was asked to write into a file. One that is there is replaced only if it is of the same
// kind, or if force is set.
func writeOutput(c *cli, name string, content []byte, force bool, ours func(was []byte) bool) error {
	at, err := c.standing()
	if err != nil {
		return err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(at.here, path)
	}
	was, err := private.ReadRegular(path, bundle.MostBrief)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil && !force:
		return thread.Kindf(thread.ErrRefused, "%s: %w", name, plainCause(err))
	case err == nil && !force && string(was) != string(content) && !ours(was):
		return thread.Hint(thread.Kindf(thread.ErrRefused, "%s is there already and was not written by this verb", name),
			"Name another file, or replace it with --force")
	}
	if err := atomicfile.Write(path, content, false); err != nil {
		return fmt.Errorf("write %s: %w", name, plainCause(err))
	}
	return nil
}
