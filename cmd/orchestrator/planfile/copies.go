package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/accept"
	"orchestrator/thread/plan"
)

// maxProgram is the most bytes of a program of a project.
const maxProgram = 64 << 20

// Copies are copies of programs of a project as they were accepted with plans: those run, whatever becomes of the files.
type Copies struct {
	Project string
	Folder  string // private, where no agent writes
}

// Argv returns the words of an agent's program, with copies in place of files of the project. A file that is another one than
// was accepted, and of which there is no copy from before, is refused.
func (c Copies) Argv(a plan.Agent) ([]string, error) {
	if len(a.ProgramFiles) == 0 {
		return a.Program, nil
	}
	folder, err := c.keep(a.ProgramFiles)
	if err != nil {
		return nil, fmt.Errorf("the program of %s: %w", harmless(a.Name), err)
	}
	names := slices.Sorted(maps.Keys(a.ProgramFiles))
	argv := slices.Clone(a.Program)
	for i, arg := range argv {
		named := accept.Names([]accept.Command{{Line: arg}}, c.Project)
		switch {
		case len(named) == 1 && slices.Contains(names, named[0]) && (filepath.Clean(arg) == named[0] || filepath.Clean(arg) == filepath.Join(c.Project, named[0])):
			argv[i] = filepath.Join(folder, named[0])
		default: // a line for a shell, or none of these
			argv[i] = accept.Elsewhere(arg, c.Project, folder, names)
		}
	}
	return argv, nil
}

// keep returns the folder with copies of files that have these hashes.
func (c Copies) keep(files map[string]string) (string, error) {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(all, "%q %s\n", name, files[name])
	}
	folder := filepath.Join(c.Folder, hex.EncodeToString(all.Sum(nil))[:32])
	for name, sum := range files {
		if !filepath.IsLocal(name) {
			return "", thread.Kindf(thread.ErrInvalid, "%s is no file of the project", harmless(name))
		}
		to := filepath.Join(folder, name)
		if have, err := os.ReadFile(to); err == nil && sumOf(have) == sum {
			continue
		}
		if err := c.take(name, sum, to); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// take copies a file if it has a hash.
func (c Copies) take(name, sum, to string) error {
	content, mode, err := programFile(c.Project, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || sumOf(content) != sum {
		return thread.Hint(thread.Kindf(thread.ErrRefused, "%s has changed since the plan was accepted", harmless(name)), "read and accept the plan again: `orchestrator trust --plans`, then start it again")
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o400|mode&0o100), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// programFile reads a regular file of a project.
func programFile(project, name string) ([]byte, fs.FileMode, error) {
	f, err := accept.Folder(project).Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	var mode fs.FileMode
	if file, ok := f.(*os.File); ok {
		info, err := file.Stat()
		if err != nil {
			return nil, 0, err
		}
		mode = info.Mode()
	}
	content, err := io.ReadAll(io.LimitReader(f, maxProgram+1))
	if err == nil && len(content) > maxProgram {
		err = thread.Kindf(thread.ErrInvalid, "%s has more than %s", harmless(name), thread.Bytes(maxProgram))
	}
	return content, mode, err
}
