package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/accept"
	"orchestrator/thread/plan"
)

// File is a plan as it was read, with all bytes that it consists of.
type File struct {
	Plan plan.Plan
	Path string // of the plan itself
	// Asks is set for a plan that runs only once a person has accepted it as it is.
	Asks bool
	// Parts are the plan's file and those that it names, as they were read.
	Parts []Part
	// Programs is what it names of programs, with the content of those that are in the project.
	Programs []byte
}

// Part is a file.
type Part struct {
	Name    string // relative to the plan's folder
	Content []byte
}

// Place is the name under which a plan is accepted.
func (f File) Place() string { return "plan:" + f.Path }

// Content is what is accepted: all bytes of all files, with their names. Two plans that differ in any have another content.
func (f File) Content() []byte {
	var b bytes.Buffer
	for _, p := range f.Parts {
		fmt.Fprintf(&b, "file %q %d\n", p.Name, len(p.Content))
		b.Write(p.Content)
	}
	fmt.Fprintf(&b, "\nprograms\n")
	b.Write(f.Programs)
	return b.Bytes()
}

// read reads a plan in a folder, and all that it names.
func read(folder *os.Root, path, name string) (File, error) {
	f := File{Path: path}
	text, err := content(folder, name)
	if err != nil {
		return f, about(path, err)
	}
	if f.Plan, err = Decode(name, text); err != nil {
		return f, about(path, err)
	}
	if f.Plan.Name == "" {
		f.Plan.Name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if len(f.Plan.Agents) > plan.MaxAgents {
		return f, about(path, thread.Kindf(thread.ErrInvalid, "it has %d agents, and %d are the most", len(f.Plan.Agents), plan.MaxAgents))
	}
	f.Parts = []Part{{name, text}}
	known, size := map[string][]byte{}, len(text)
	take := func(agent, key, named string) ([]byte, error) {
		b, ok := known[named]
		if !ok {
			if b, err = content(folder, named); err != nil {
				return nil, about(path, fmt.Errorf("%s of agent %s: %w", key, harmless(agent), err))
			}
			known[named], f.Parts = b, append(f.Parts, Part{named, b})
		}
		if size += len(b); size > plan.MaxDocument {
			return nil, about(path, thread.Kindf(thread.ErrInvalid, "it has more than %s with all that it names", thread.Bytes(plan.MaxDocument)))
		}
		return b, nil
	}
	for i := range f.Plan.Agents {
		if err := inline(&f.Plan.Agents[i], take); err != nil {
			return f, err
		}
	}
	return f, nil
}

// inline puts the texts of the files that an agent names in their place.
func inline(a *plan.Agent, take func(agent, key, name string) ([]byte, error)) error {
	if a.PromptFile != "" {
		if a.Prompt != "" {
			return thread.Kindf(thread.ErrInvalid, "agent %s has both prompt and prompt_file", harmless(a.Name))
		}
		b, err := take(a.Name, "prompt_file", a.PromptFile)
		if err != nil {
			return err
		}
		a.Prompt, a.PromptFile = string(b), ""
	}
	if a.SchemaFile != "" {
		if len(a.Schema) > 0 {
			return thread.Kindf(thread.ErrInvalid, "agent %s has both schema and schema_file", harmless(a.Name))
		}
		b, err := take(a.Name, "schema_file", a.SchemaFile)
		if err != nil {
			return err
		}
		if !json.Valid(b) {
			return thread.Kindf(thread.ErrInvalid, "schema_file of agent %s: %s is no JSON", harmless(a.Name), harmless(a.SchemaFile))
		}
		a.Schema, a.SchemaFile = bytes.TrimSpace(b), ""
	}
	return nil
}

// about says which plan an error is of.
func about(path string, err error) error { return fmt.Errorf("plan %s: %w", harmless(path), err) }

// content reads a regular file of a folder that no link leads to.
func content(folder *os.Root, name string) ([]byte, error) {
	if !filepath.IsLocal(name) {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s leads out of the plan's folder", harmless(name)), "put it beside the plan, and name it relative to that")
	}
	if err := unlinked(folder, name); err != nil {
		return nil, err
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, thread.Kindf(thread.ErrNotFound, "there is no %s in %s", harmless(name), harmless(folder.Name()))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", harmless(name), err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", harmless(name), err)
	case !info.Mode().IsRegular():
		return nil, thread.Kindf(thread.ErrInvalid, "%s is no file", harmless(name))
	}
	b, err := io.ReadAll(io.LimitReader(file, plan.MaxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", harmless(name), err)
	case len(b) > plan.MaxDocument:
		return nil, thread.Kindf(thread.ErrInvalid, "%s has more than %s", harmless(name), thread.Bytes(plan.MaxDocument))
	}
	return b, nil
}

// unlinked refuses a name on whose way there is a link.
func unlinked(folder *os.Root, name string) error {
	way := ""
	for _, part := range strings.Split(filepath.Clean(name), string(filepath.Separator)) {
		way = filepath.Join(way, part)
		info, err := folder.Lstat(way)
		if err != nil {
			return nil // what is wrong with it is said when it is opened
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is a link", harmless(way)), "put the file itself there")
		}
	}
	return nil
}

// programs puts into a plan which files of the project its programs are, with their hashes, and returns what is accepted of
// them; brings reports whether there are any. What the plan itself says of that counts for nothing.
func programs(p *plan.Plan, project string) (text []byte, brings bool, err error) {
	var commands []accept.Command
	for i := range p.Agents {
		a := &p.Agents[i]
		a.ProgramFiles = nil
		if len(a.Program) == 0 {
			continue
		}
		one := accept.Command{Name: a.Name, Line: strings.Join(a.Program, " ")}
		commands = append(commands, one)
		for _, name := range accept.Names([]accept.Command{one}, project) {
			content, _, err := programFile(project, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, false, err
			}
			if a.ProgramFiles == nil {
				a.ProgramFiles = map[string]string{}
			}
			a.ProgramFiles[name], brings = sumOf(content), true
		}
	}
	if len(commands) == 0 {
		return nil, false, nil
	}
	var b bytes.Buffer
	for _, a := range p.Agents {
		if len(a.Program) > 0 {
			fmt.Fprintf(&b, "program %q %q\n", a.Name, a.Program)
		}
		for _, name := range slices.Sorted(maps.Keys(a.ProgramFiles)) {
			fmt.Fprintf(&b, "file %q %s\n", name, a.ProgramFiles[name])
		}
	}
	return b.Bytes(), brings, nil
}
